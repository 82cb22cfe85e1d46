"""Arrays in .npy and .npz files, read in blocks and never unpickled."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

_SPARSE = {"format", "shape", "data"}  # what scipy.sparse.save_npz writes, whatever the format


@dataclass(frozen=True)
class StoredArray:
    """An array in a file: what its header says, and where it is."""

    path: Path
    member: str | None  # of an .npz file
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return self.path.name if self.member is None else f"{self.member.removesuffix('.npy')} in {self.path.name}"

    def blocks(self, size: int, start: int = 0) -> Iterator[tuple[int, NDArray[Any]]]:
        """Read ``size`` rows at a time, from row ``start`` on."""
        bounds = [(first, min(first + size, self.shape[0])) for first in range(start, self.shape[0], size)]
        if self.member is None:
            values = np.load(self.path, mmap_mode="r", allow_pickle=False)
            for first, last in bounds:
                yield first, np.asarray(values[first:last])
            return
        row_bytes = self.dtype.itemsize * int(np.prod(self.shape[1:]))
        with _readable(self.path), zipfile.ZipFile(self.path) as archive, archive.open(self.member) as file:
            _read_header(file)
            file.seek(start * row_bytes, 1)
            for first, last in bounds:
                content = file.read((last - first) * row_bytes)
                if len(content) < (last - first) * row_bytes:
                    raise ValueError(f"{self.name} ends too early; write the file again")
                yield first, np.frombuffer(content, self.dtype).reshape(last - first, *self.shape[1:])


def arrays_in(path: Path) -> dict[str, StoredArray]:
    """Return the arrays of an .npz file by name, or that of an .npy file under the name X."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    kind = path.suffix.lower()
    if kind == ".npy":
        with _readable(path), path.open("rb") as file:
            array = _checked(path, None, *_read_header(file))
            needed = file.tell() + array.dtype.itemsize * int(np.prod(array.shape))
        if path.stat().st_size < needed:
            raise ValueError(f"{path.name} ends too early; write the file again")
        return {"X": array}
    if kind != ".npz":
        raise ValueError(f"can not read {path.name}: its ending must be .npy or .npz")
    with _readable(path), zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        if {name.removesuffix(".npy") for name in names} >= _SPARSE:
            raise ValueError(
                f"{path.name} holds a sparse matrix, and a store holds rows of few dense features; "
                "reduce it first, for example by sklearn.decomposition.TruncatedSVD, and save the result by np.save"
            )
        found = {}
        for name in names:
            with archive.open(name) as file:
                found[name.removesuffix(".npy")] = _checked(path, name, *_read_header(file))
    return found


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    version = npy.read_magic(file)
    if version not in readers:
        raise ValueError(f"its format version {version} is not known")
    shape, in_columns, dtype = readers[version](file)
    return shape, in_columns, dtype


def _checked(
    path: Path, member: str | None, shape: tuple[int, ...], in_columns: bool, dtype: np.dtype[Any]
) -> StoredArray:
    array = StoredArray(path, member, shape, dtype)
    if dtype.hasobject:
        raise ValueError(f"{array.name} holds Python objects, which are not read; save it as numbers or as text")
    if in_columns and member is not None and len(shape) > 1:
        raise ValueError(f"{array.name} is stored by columns; save np.ascontiguousarray(X), or as .npy")
    return array


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say which file it is that NumPy or zipfile can not make sense of."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # the last: encrypted, unknown packing
        raise ValueError(f"{path.name} is damaged or no {path.suffix} file: {error}; write it again") from error
    except ValueError as error:
        if path.name in str(error):
            raise
        raise ValueError(f"{path.name} is damaged or no {path.suffix} file: {error}; write it again") from error
