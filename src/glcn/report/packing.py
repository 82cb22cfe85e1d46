"""Arrays inside a page: little-endian bytes in base64, a third of the size of numbers written out."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

FULL = 65_535  # a share of 1 in 16 bits
SIGNED = 32_767


def packed(array: NDArray[Any], kind: str) -> dict[str, str]:
    """Return an array as the page reads it; ``kind`` is one of u1, u2, i2, i4 and f4."""
    little = np.ascontiguousarray(array, dtype=np.dtype(kind).newbyteorder("<"))
    return {"kind": kind, "bytes": base64.b64encode(little.tobytes()).decode("ascii")}


def shares(values: NDArray[Any]) -> dict[str, str]:
    """Pack numbers from 0 to 1 into 16 bits each."""
    return packed(np.rint(np.clip(values, 0, 1) * FULL), "u2")


def signed_shares(values: NDArray[Any]) -> dict[str, str]:
    """Pack numbers from −1 to 1 into 16 bits each."""
    return packed(np.rint(np.clip(values, -1, 1) * SIGNED), "i2")
