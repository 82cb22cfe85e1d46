"""Small archives in the layout of the official ones."""

import gzip
import io
import pickle
import tarfile

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from glcn.datasets import CATALOGUE, import_archive


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return head + array.astype(np.uint8).tobytes()


@pytest.fixture
def mnist(tmp_path, random):
    arrays = {
        "train-images-idx3-ubyte": random.integers(0, 256, (7, 28, 28)),
        "train-labels-idx1-ubyte": np.arange(7),
        "t10k-images-idx3-ubyte": random.integers(0, 256, (3, 28, 28)),
        "t10k-labels-idx1-ubyte": np.arange(3),
    }
    folder = tmp_path / "mnist"
    folder.mkdir()
    for name, array in arrays.items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(idx(array)))
    return folder, arrays


def test_mnist(mnist, data_folder):
    folder, arrays = mnist
    assert import_archive("mnist", folder) == data_folder / "mnist/mnist.npz"
    with np.load(data_folder / "mnist/mnist.npz") as written:
        np.testing.assert_array_equal(written["x_train"], arrays["train-images-idx3-ubyte"])
        np.testing.assert_array_equal(written["y_test"], [0, 1, 2])


def test_mnist_uncompressed_and_damaged(mnist, data_folder):
    folder, _ = mnist
    (folder / "train-labels-idx1-ubyte.gz").unlink()
    plain = folder / "train-labels-idx1-ubyte"
    plain.write_bytes(idx(np.arange(7)))
    import_archive("mnist", folder)
    before = (data_folder / "mnist/mnist.npz").read_bytes()
    for content, message in (
        (idx(np.arange(7))[:-2], "cut off: 5 values, its head promises 7"),
        (gzip.compress(idx(np.arange(7)))[:-5], "cut off or damaged"),
        (b"GIF89a..", "not an idx file"),
        (idx(np.arange(6)), "differ in number"),
    ):
        plain.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            import_archive("mnist", folder, force=True)
    plain.unlink()
    with pytest.raises(ValueError, match="must be a folder with a file train-labels"):
        import_archive("mnist", folder, force=True)
    with pytest.raises(FileExistsError, match="descriptors may belong to it"):
        import_archive("mnist", folder)
    assert (data_folder / "mnist/mnist.npz").read_bytes() == before


def tar_with(path, content, name="cifar-10-batches-py/test_batch"):
    with tarfile.open(path, "w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return path


def test_cifar10(tmp_path, data_folder, random):
    pixels = random.integers(0, 256, (4, 3072), dtype=np.uint8)
    batch = {"data": pixels, "labels": [3, 1, 0, 9], "filenames": ["a"] * 4, "batch_label": "testing batch 1 of 1"}
    path = tar_with(tmp_path / "cifar.tar.gz", pickle.dumps(batch, protocol=2))
    import_archive("cifar10", path)
    with np.load(data_folder / "cifar10/cifar10_10k.npz") as written:
        assert written["x"].shape == (4, 32, 32, 3)
        assert written["x"][1, 2, 3, 0] == pixels[1, 2 * 32 + 3]  # red comes first
        assert written["x"][1, 2, 3, 2] == pixels[1, 2048 + 2 * 32 + 3]
        assert written["y"].tolist() == [3, 1, 0, 9]


class Evil:
    def __reduce__(self):
        return (print, ("executed",))


def test_cifar10_archives_with_other_contents(tmp_path):
    for batch, message in (
        ({b"data": 1}, "does not hold CIFAR-10's data and labels"),
        ({"data": np.zeros((2, 3072), np.uint8), "labels": [1]}, "2 images but 1 labels"),
    ):
        with pytest.raises(ValueError, match=message):
            import_archive("cifar10", tar_with(tmp_path / "odd.tar.gz", pickle.dumps(batch, protocol=2)))


def test_hostile_and_broken_tars(tmp_path, capsys):
    with pytest.raises(pickle.UnpicklingError, match="may not contain"):
        import_archive("cifar10", tar_with(tmp_path / "evil.tar.gz", pickle.dumps(Evil())))
    assert "executed" not in capsys.readouterr().out
    with pytest.raises(ValueError, match="has no file test_batch"):
        import_archive("cifar10", tar_with(tmp_path / "other.tar.gz", b"", name="../../outside"))
    assert not (tmp_path.parent.parent / "outside").exists()
    (tmp_path / "not.tar.gz").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not a tar archive"):
        import_archive("cifar10", tmp_path / "not.tar.gz")


def test_svhn(tmp_path, data_folder, random):
    labels = np.repeat(np.arange(1, 11), 3)
    images = random.integers(0, 256, (32, 32, 3, 30), dtype=np.uint8)
    savemat(tmp_path / "test_32x32.mat", {"X": images, "y": labels[:, None]})
    import_archive("svhn", tmp_path / "test_32x32.mat")
    with np.load(data_folder / "svhn/svhn_10k.npz") as written:
        rows = written["index_in_test"]
        assert np.bincount(written["y"]).tolist() == [3] * 10
        np.testing.assert_array_equal(written["y"], labels[rows] % 10)
        np.testing.assert_array_equal(written["x"][5], images[:, :, :, rows[5]])
    (tmp_path / "cut.mat").write_bytes(b"MATLAB")
    with pytest.raises(ValueError, match="can not be read as SVHN"):
        import_archive("svhn", tmp_path / "cut.mat", force=True)


def test_scene15(tmp_path, data_folder, random):
    for name in CATALOGUE["scene15"].class_names:
        (tmp_path / "scenes" / name).mkdir(parents=True)
        for number in range(2):
            picture = Image.fromarray(random.integers(0, 256, (40, 50), dtype=np.uint8))
            picture.save(tmp_path / "scenes" / name / f"image_{number}.jpg")
    import_archive("scene15", tmp_path / "scenes")
    with np.load(data_folder / "scene15/scene15_images.npz") as written:
        assert written["x"].shape == (30, 64, 64)
        assert np.bincount(written["y"]).tolist() == [2] * 15
        coast = [file.startswith("Coast") for file in written["fname"]]
        assert set(written["y"][coast]) == {1}  # the order of the catalogue, not of the alphabet
    (tmp_path / "scenes/Coast/image_0.jpg").write_bytes(b"no image")
    with pytest.raises(ValueError, match=r"image_0.jpg can not be read as an image"):
        import_archive("scene15", tmp_path / "scenes", force=True)
    for file in (tmp_path / "scenes/Street").iterdir():
        file.unlink()
    with pytest.raises(ValueError, match="each of Scene15's classes; look at Street"):
        import_archive("scene15", tmp_path / "scenes", force=True)


def test_bad_names_and_paths(tmp_path):
    with pytest.raises(ValueError, match="only image sets are imported"):
        import_archive("cora", tmp_path)
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        import_archive("mnist", tmp_path / "nowhere")
    with pytest.raises(ValueError, match="no images in"):
        import_archive("scene15", tmp_path)
