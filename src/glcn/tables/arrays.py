"""Files of plain arrays; nothing is ever unpickled."""

import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_DAMAGED = (zipfile.BadZipFile, zlib.error, tokenize.TokenError, EOFError, ValueError, TypeError, KeyError, OSError)


def read_arrays(path: Path, *, only: tuple[str, ...] | None = None) -> dict[str, NDArray[Any]]:
    """Read an .npz file, whole or the arrays named by ``only``."""
    try:
        with zipfile.ZipFile(path):  # an .npy file under this name is none
            pass
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files if only is None or name in only}
    except _DAMAGED as error:
        raise ValueError(f"{path.name} can not be read as an .npz file of plain arrays ({error})") from error


def read_array(path: Path, *, mapped: bool = False) -> NDArray[Any]:
    """Read an .npy file, or map it into memory."""
    try:
        array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except _DAMAGED as error:
        raise ValueError(f"{path.name} can not be read as an .npy file of a plain array ({error})") from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path.name} is an .npz archive; give it that ending")
    return array


def is_sparse_file(path: Path) -> bool:
    """Whether an .npz file was written by ``scipy.sparse.save_npz``."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {"format.npy", "shape.npy", "data.npy"} <= set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def read_sparse(path: Path) -> Any:
    """Read a file of ``scipy.sparse.save_npz`` as a CSR array whose indices are sure to lie inside."""
    try:
        matrix = sparse.load_npz(path)
        X = sparse.csr_array(matrix)
        X.check_format(full_check=True)  # wrong indices would be read as memory by compiled code
    except _DAMAGED as error:
        raise ValueError(f"{path.name} can not be read as a sparse matrix of scipy ({error})") from error
    X.sum_duplicates()
    return X
