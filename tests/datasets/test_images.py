import io

import numpy as np
import pytest

from glcn.datasets import load


@pytest.fixture
def image_files(data_folder, random):
    """Small files in the layout of the real ones: 30 images a class for CIFAR-10, 60 to 69 for MNIST."""
    y = np.repeat(np.arange(10), 30).astype(np.uint8)
    for name in ("cifar10", "mnist", "scene15"):
        (data_folder / name).mkdir(parents=True)
    images = random.integers(0, 256, (300, 8, 8, 3), dtype=np.uint8)
    np.savez(data_folder / "cifar10/cifar10_10k.npz", x=images, y=y)
    rows = random.random((300, 16)).astype(np.float16)
    np.savez(data_folder / "cifar10/cifar10_efficientnet_lite0.npz", x=rows, y=y)
    np.savez(data_folder / "cifar10/cifar10_mine.npz", x=rows[:, :4], y=y)
    labels = np.concatenate([np.full(60 + digit, digit) for digit in range(10)]).astype(np.uint8)
    random.shuffle(labels)
    digits = random.integers(0, 256, (len(labels), 4, 4), dtype=np.uint8)
    np.savez(
        data_folder / "mnist/mnist.npz",
        x_train=digits[:400],
        y_train=labels[:400],
        x_test=digits[400:],
        y_test=labels[400:],
    )
    np.savez(data_folder / "scene15/scene15_images.npz", x=images[:, :, :, 0], y=y)


@pytest.fixture
def small_validation(monkeypatch):
    import dataclasses

    from glcn.datasets.catalogue import CATALOGUE

    for name in ("cifar10", "mnist", "scene15"):
        monkeypatch.setitem(CATALOGUE, name, dataclasses.replace(CATALOGUE[name], num_validation=20, labels=(40,)))


@pytest.mark.usefixtures("image_files", "small_validation")
def test_splits_are_drawn_from_all_rows_whatever_their_class():
    data = load("cifar10", labels=50, seed=4)
    assert (len(data.train), len(data.validation), len(data.test)) == (50, 20, 230)
    assert len(np.unique(np.concatenate([data.train, data.validation, data.test]))) == 300
    assert len(set(np.bincount(data.y[data.train], minlength=10))) > 1
    assert not np.array_equal(load("cifar10", labels=50, seed=5).train, data.train)
    assert len(load("cifar10").train) == 40


@pytest.mark.usefixtures("image_files", "small_validation")
def test_descriptors_by_name():
    data = load("cifar10")
    assert data.X.shape == (300, 16)
    assert data.X.dtype == np.float32
    assert data.features.startswith("efficientnet_lite0: 1280")
    assert "not the descriptor of the GLCN paper" in data.features
    pixels = load("cifar10", descriptor="pixels")
    assert pixels.X.shape == (300, 192)
    assert pixels.X.max() <= 1
    assert load("cifar10", descriptor="mine").X.shape == (300, 4)
    with pytest.raises(ValueError, match=r"one of \('efficientnet_lite0', 'pixels', 'mine'\) for cifar10, got 'hog'"):
        load("cifar10", descriptor="hog")


@pytest.mark.usefixtures("image_files", "small_validation")
def test_mnist_is_one_fixed_balanced_draw():
    first, second = load("mnist", seed=0), load("mnist", seed=1)
    assert np.bincount(first.y).tolist() == [60] * 10
    np.testing.assert_array_equal(first.X, second.X)
    assert not np.array_equal(first.train, second.train)


@pytest.mark.usefixtures("image_files", "small_validation")
def test_images_without_their_descriptor_say_how_to_make_it():
    with pytest.raises(
        FileNotFoundError, match=r"are here, but their descriptor efficientnet_lite0 .* run `glcn features"
    ):
        load("scene15")
    assert len(load("scene15", descriptor="pixels").class_names) == 15


@pytest.mark.usefixtures("image_files", "small_validation")
def test_a_descriptor_of_other_images_is_refused(data_folder):
    path = data_folder / "cifar10/cifar10_efficientnet_lite0.npz"
    np.savez(path, x=np.ones((300, 4)), y=np.arange(300) % 10)
    with pytest.raises(ValueError, match=r"does not belong to cifar10_10k.npz: their labels differ"):
        load("cifar10")
    np.savez(path, x=np.ones((300, 4)))
    with pytest.raises(ValueError, match="must hold arrays x and y, got x"):
        load("cifar10")
    np.savez(data_folder / "cifar10/cifar10_10k.npz", x=np.ones((299, 4)), y=np.arange(300) % 10)
    with pytest.raises(ValueError, match=r"300 labels, features of shape \(299, 4\)"):
        load("cifar10", descriptor="pixels")


@pytest.mark.usefixtures("image_files", "small_validation")
def test_bad_arguments(data_folder):
    with pytest.raises(ValueError, match="'random' for mnist"):
        load("mnist", split="public")
    with pytest.raises(ValueError, match="only 10 rows are left"):
        load("cifar10", labels=290)
    with pytest.raises(ValueError, match="labels must be at least 1"):
        load("cifar10", labels=0)
    with pytest.raises(FileNotFoundError, match="svhn is not here"):
        load("svhn")
    path = data_folder / "cifar10/cifar10_efficientnet_lite0.npz"
    np.savez_compressed(path, x=np.arange(3000.0).reshape(300, 10), y=np.zeros(300, int))
    flipped = bytearray(path.read_bytes())
    flipped[200:260] = bytes(60)
    npy = io.BytesIO()
    np.save(npy, np.eye(2))
    for content in (b"PK truncated", bytes(flipped), npy.getvalue(), b""):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"can not be read as an \.npz file"):
            load("cifar10")


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "shape", "labels", "sizes"),
    [
        ("mnist", (10000, 784), 1000, (1000, 1000, 8000)),
        ("mnist", (10000, 784), 3000, (3000, 1000, 6000)),
        ("cifar10", (10000, 1280), 2000, (2000, 1000, 7000)),
        ("svhn", (10000, 900), None, (1000, 1000, 8000)),
        ("scene15", (4485, 1280), 750, (750, 500, 3235)),
    ],
)
def test_real_files(name, shape, labels, sizes):
    data = load(name, labels=labels, seed=9)
    assert data.X.shape == shape
    assert (len(data.train), len(data.validation), len(data.test)) == sizes
    assert len(data.class_names) == (15 if name == "scene15" else 10)
    assert (np.bincount(data.y) == 1000).all() == (name != "scene15")
    assert np.isfinite(data.X).all()
