"""What is trained on what: by it a checkpoint is not taken for another's."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from glcn.estimator.validation import LabelledRows

SAMPLED_ROWS = 1_000  # whose features tell one training from another
_OF_NO_MATTER = ("verbose", "work_dir", "device")  # to what is learned


def purpose(settings: Mapping[str, Any], X: Any, codes: NDArray[np.int64], rows: LabelledRows) -> str:
    """Return a fingerprint of settings, features and labels."""
    told = {name: value for name, value in settings.items() if name not in _OF_NO_MATTER}
    digest = hashlib.blake2b(json.dumps([told, X.shape], sort_keys=True, default=str).encode(), digest_size=16)
    sample = np.linspace(0, X.shape[0] - 1, min(X.shape[0], SAMPLED_ROWS)).astype(np.int64)
    some = X[sample].toarray() if sparse.issparse(X) else X[sample]
    for array in (some, codes, rows.train, rows.validation):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
