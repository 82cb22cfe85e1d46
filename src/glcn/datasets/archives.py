"""The official archives of the image sets, turned into the files that the loader reads."""

import gzip
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glcn.datasets.catalogue import CATALOGUE
from glcn.datasets.files import write_npz
from glcn.datasets.folder import data_folder
from glcn.datasets.safe_pickle import unpickle_arrays
from glcn.datasets.splits import frozen_random

PER_CLASS = 1000
SCENE_SIZE = 64
_IDX_TYPES = {0x08: "u1"}


def import_archive(name: str, archive: Path, *, force: bool = False) -> Path:
    """Read the official archive of an image set and write its file into the data folder; return where that is.

    A file that is there already is kept, because descriptors may belong to it, unless ``force`` is set.

    MNIST: the folder with its four idx files (.gz or not). CIFAR-10: ``cifar-10-python.tar.gz``. SVHN:
    ``test_32x32.mat``. Scene15: the folder with one folder of JPEG images a class.
    """
    if name not in _READERS:
        raise ValueError(f"only image sets are imported ({', '.join(_READERS)}), got {name!r}")
    if not archive.exists():
        raise FileNotFoundError(f"there is no file or folder {archive}")
    target = data_folder() / CATALOGUE[name].images
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists already, and descriptors may belong to it; pass force to replace it")
    write_npz(target, **_READERS[name](archive))
    return target


def _mnist(folder: Path) -> dict[str, NDArray[Any]]:
    parts = {"x_train": "train-images", "y_train": "train-labels", "x_test": "t10k-images", "y_test": "t10k-labels"}
    arrays = {name: _read_idx(_one(folder, f"{part}*ubyte*")) for name, part in parts.items()}
    for part in ("train", "test"):
        if len(arrays[f"x_{part}"]) != len(arrays[f"y_{part}"]):
            raise ValueError(f"the {part} images and labels of MNIST differ in number")
        if arrays[f"x_{part}"].ndim != 3 or arrays[f"y_{part}"].ndim != 1:
            raise ValueError(f"the {part} files of MNIST are not images and labels")
    return arrays


def _one(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern)) if folder.is_dir() else []
    if not found:
        raise ValueError(f"{folder} must be a folder with a file {pattern}")
    return found[0]


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """Read MNIST's own format: two zero bytes, type, number of dimensions, their sizes, then the values."""
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError) as error:
            raise ValueError(f"{path.name} is cut off or damaged") from error
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _IDX_TYPES:
        raise ValueError(f"{path.name} is not an idx file of bytes")
    start = 4 + 4 * content[3]
    shape = tuple(np.frombuffer(content[4:start], ">u4").astype(int))
    values = np.frombuffer(content[start:], _IDX_TYPES[content[2]])
    if values.size != np.prod(shape):
        raise ValueError(f"{path.name} is cut off: {values.size} values, its head promises {np.prod(shape)}")
    return values.reshape(shape)


def _cifar10(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with tarfile.open(path) as tar:
            # Read by name, never extracted, so that no path in the archive can point outside.
            member = next((each for each in tar.getmembers() if Path(each.name).name == "test_batch"), None)
            file = tar.extractfile(member) if member is not None else None
            if file is None:
                raise ValueError(f"{path.name} has no file test_batch; is it cifar-10-python.tar.gz?")
            batch = unpickle_arrays(file.read(), "test_batch")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ValueError(f"{path.name} is not a tar archive or is cut off ({error})") from error
    try:
        images = np.asarray(batch["data"], np.uint8).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        labels = np.asarray(batch["labels"], np.uint8)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"test_batch in {path.name} does not hold CIFAR-10's data and labels ({error!r})") from error
    if len(images) != len(labels):
        raise ValueError(f"test_batch in {path.name} has {len(images)} images but {len(labels)} labels")
    return {"x": np.ascontiguousarray(images), "y": labels}


def _svhn(path: Path) -> dict[str, NDArray[Any]]:
    from scipy.io import loadmat

    try:
        content = loadmat(path, variable_names=["X", "y"])
        images, labels = content["X"].transpose(3, 0, 1, 2), content["y"].ravel() % 10  # 10 stands for the digit 0
    except Exception as error:  # scipy raises many kinds for damaged files
        raise ValueError(f"{path.name} can not be read as SVHN's test_32x32.mat ({error})") from error
    random = frozen_random(0)
    drawn = [random.permutation(np.flatnonzero(labels == digit))[:PER_CLASS] for digit in range(10)]
    rows = np.sort(np.concatenate(drawn))
    return {"x": images[rows], "y": labels[rows].astype(np.uint8), "index_in_test": rows.astype(np.int32)}


def _scene15(folder: Path) -> dict[str, NDArray[Any]]:
    from glcn.datasets.pictures import find_pictures, read_picture

    found = find_pictures(folder)
    names = list(CATALOGUE["scene15"].class_names)
    folders = {path.parent.name for path in found}
    if folders != set(names):
        odd = sorted(folders ^ set(names))
        raise ValueError(
            f"{folder} must have a folder of images for each of Scene15's classes; look at {', '.join(odd)}"
        )
    images = np.stack([read_picture(path, grey_size=SCENE_SIZE) for path in found])
    labels = np.array([names.index(path.parent.name) for path in found], np.uint8)
    files = np.array([str(path.relative_to(folder)) for path in found])
    return {"x": images, "y": labels, "class_names": np.array(names), "fname": files}


_READERS: dict[str, Callable[[Path], dict[str, NDArray[Any]]]] = {
    "mnist": _mnist,
    "cifar10": _cifar10,
    "svhn": _svhn,
    "scene15": _scene15,
}
