import sys

import numpy as np
import pytest
import torch
from PIL import Image

from glcn.datasets import describe_images


class Counting(torch.nn.Module):
    """A small backbone that counts the images it saw, and may be stopped."""

    def __init__(self, stop_after=None, maps=True):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = torch.nn.Parameter(torch.randn(5, 3, 8, 8, generator=generator))
        self.seen = 0
        self.stop_after = stop_after
        self.maps = maps

    def forward(self, pixels):
        if self.stop_after is not None and self.seen >= self.stop_after:
            raise KeyboardInterrupt
        self.seen += len(pixels)
        maps = torch.nn.functional.conv2d(pixels, self.weight, stride=4)
        return maps if self.maps else maps.mean(dim=(2, 3))


@pytest.fixture
def images(tmp_path, random):
    x = random.integers(0, 256, (21, 12, 10, 3), dtype=np.uint8)
    np.savez(tmp_path / "images.npz", x=x, y=np.arange(21) % 3)
    return tmp_path / "images.npz"


def rows_of(path):
    with np.load(path) as archive:
        return archive["x"]


def test_rows_do_not_depend_on_the_batches(images, tmp_path):
    heard = []
    describe_images(
        images, tmp_path / "a.npz", backbone=Counting(), size=16, batch_size=4, report=lambda *r: heard.append(r)
    )
    describe_images(images, tmp_path / "b.npz", backbone=Counting(maps=False), size=16, batch_size=100)
    np.testing.assert_allclose(rows_of(tmp_path / "a.npz"), rows_of(tmp_path / "b.npz"), atol=2e-2)
    assert rows_of(tmp_path / "a.npz").shape == (21, 5)
    assert heard[-1] == (21, 21)
    with np.load(tmp_path / "a.npz") as archive:
        assert archive["y"].tolist() == (np.arange(21) % 3).tolist()


def test_after_a_stop_the_same_call_goes_on(images, tmp_path):
    whole = describe_images(images, tmp_path / "whole.npz", backbone=Counting(), size=16, batch_size=4)
    with pytest.raises(KeyboardInterrupt):
        describe_images(images, tmp_path / "out.npz", backbone=Counting(stop_after=8), size=16, batch_size=4)
    assert not (tmp_path / "out.npz").exists()
    with (tmp_path / ".out.npz.rows").open("ab") as file:
        file.write(b"half a row")  # as a kill in the middle of a write leaves it
    second = Counting()
    describe_images(images, tmp_path / "out.npz", backbone=second, size=16, batch_size=4)
    assert second.seen == 21 - 8
    np.testing.assert_array_equal(rows_of(tmp_path / "out.npz"), rows_of(whole))
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_other_settings_start_over(images, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        describe_images(images, tmp_path / "out.npz", backbone=Counting(stop_after=8), size=16, batch_size=4)
    second = Counting()
    describe_images(images, tmp_path / "out.npz", backbone=second, size=24, batch_size=4)
    assert second.seen == 21


def test_other_images_or_another_network_start_over(tmp_path, random):
    (tmp_path / "pets").mkdir()
    for number in range(12):
        Image.fromarray(np.full((9, 9, 3), 50, np.uint8)).save(tmp_path / f"pets/{number}.bmp")
    with pytest.raises(KeyboardInterrupt):
        describe_images(tmp_path / "pets", tmp_path / "out.npz", backbone=Counting(stop_after=8), size=16, batch_size=4)
    Image.fromarray(np.full((9, 9, 3), 200, np.uint8)).save(tmp_path / "pets/0.bmp")  # of the same size on disk
    second = Counting(stop_after=8)
    with pytest.raises(KeyboardInterrupt):
        describe_images(tmp_path / "pets", tmp_path / "out.npz", backbone=second, size=16, batch_size=4)
    assert second.seen == 8

    class Other(Counting):
        pass

    third = Other()
    describe_images(tmp_path / "pets", tmp_path / "out.npz", backbone=third, size=16, batch_size=4)
    assert third.seen == 12


def test_folders_of_images(tmp_path, random):
    for name, number in (("cat", 2), ("ant", 3)):
        (tmp_path / "pets" / name).mkdir(parents=True)
        for each in range(number):
            picture = Image.fromarray(random.integers(0, 256, (20 + each, 15, 3), dtype=np.uint8))
            picture.save(tmp_path / "pets" / name / f"{each}.png")
    describe_images(tmp_path / "pets", tmp_path / "out.npz", backbone=Counting(), size=16)
    with np.load(tmp_path / "out.npz") as archive:
        assert archive["class_names"].tolist() == ["ant", "cat"]
        assert archive["y"].tolist() == [0, 0, 0, 1, 1]
        assert archive["x"].shape == (5, 5)


def test_bad_arguments(images, tmp_path):
    with pytest.raises(ValueError, match=r"must end in .npz"):
        describe_images(images, tmp_path / "out.csv")
    with pytest.raises(ValueError, match="size must be at least 8"):
        describe_images(images, tmp_path / "out.npz", size=1)
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        describe_images(tmp_path / "none", tmp_path / "out.npz", backbone=Counting())
    np.savez(tmp_path / "floats.npz", x=np.ones((2, 4, 4)))
    with pytest.raises(ValueError, match="array x of type uint8"):
        describe_images(tmp_path / "floats.npz", tmp_path / "out.npz", backbone=Counting())
    with pytest.raises(ValueError, match=r"one of \('efficientnet_lite0', 'hog'\), got 'resnet'"):
        describe_images(images, tmp_path / "out.npz", backbone="resnet")
    huge = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Threshold(1e9, 1e9))
    with pytest.raises(ValueError, match="beyond 65504"):
        describe_images(images, tmp_path / "out.npz", backbone=huge, size=16)
    with pytest.raises(ValueError, match="rows or feature maps"):
        describe_images(images, tmp_path / "out.npz", backbone=torch.nn.Flatten(0), size=16)


def test_a_missing_package_is_named(images, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite_pytorch", None)
    with pytest.raises(ImportError, match=r"pip install 'glcn\[images\]'"):
        describe_images(images, tmp_path / "out.npz")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("images", "stored", "backbone", "size"),
    [
        ("cifar10/cifar10_10k.npz", "cifar10/cifar10_efficientnet_lite0.npz", "efficientnet_lite0", 160),
        ("svhn/svhn_10k.npz", "svhn/svhn_hog.npz", "hog", 32),
    ],
)
def test_reproduces_the_stored_descriptors(data_folder, tmp_path, images, stored, backbone, size):
    rows = np.random.default_rng(0).choice(10_000, 60, replace=False)
    with np.load(data_folder / images) as archive:
        np.savez(tmp_path / "some.npz", x=archive["x"][rows], y=archive["y"][rows])
    describe_images(tmp_path / "some.npz", tmp_path / "out.npz", backbone=backbone, size=size)
    expected = rows_of(data_folder / stored)[rows].astype(float)
    difference = np.abs(rows_of(tmp_path / "out.npz") - expected)
    assert (difference.max(axis=1) / expected.max(axis=1)).max() < 1e-3
