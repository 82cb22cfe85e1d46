"""Reads the pickles that old datasets come as: arrays, sparse matrices and plain containers, and nothing else."""

import io
import pickle
from collections import defaultdict
from typing import Any

import numpy as np
from scipy import sparse

_reconstruct = np.empty(0).__reduce__()[0]
# The names that old and new versions of Python, NumPy and SciPy write for the same few things.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): sparse.csr_matrix,
    ("scipy.sparse._csr", "csr_matrix"): sparse.csr_matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("_codecs", "encode"): lambda text, _: text.encode("latin1"),  # bytes, as Python 3 writes them for Python 2
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"a data file may not contain {module}.{name}; it was not loaded")
        return _ALLOWED[module, name]


def unpickle_arrays(content: bytes, name: str, encoding: str = "latin1") -> Any:
    """Unpickle ``content``, the bytes of the file ``name``, if it holds nothing but data."""
    try:
        return _Unpickler(io.BytesIO(content), encoding=encoding).load()
    except (EOFError, ValueError, IndexError, AttributeError, TypeError, KeyError) as error:
        raise ValueError(f"{name} is damaged and can not be read ({error}); fetch it again") from error
