"""The citation graphs and their four splits."""

from glcn.datasets.catalogue import CATALOGUE
from glcn.datasets.cora import RELEASED, read_bundled_cora
from glcn.datasets.dataset import Dataset
from glcn.datasets.folder import data_folder
from glcn.datasets.planetoid import planetoid_files, read_planetoid
from glcn.datasets.splits import Split, per_class_split

PER_CLASS, NUM_VALIDATION, NUM_TEST, PAPER_VALIDATION = 20, 500, 1000, 300
_DESCRIPTIONS = {
    "public": "Planetoid's public split: {train} rows to fit (20 a class), the next 500 for validation, and its 1000 "
    "test rows",
    "paper": "the text of the GLCN paper: the public split's {train} training and 1000 test rows, and the first 300 of "
    "its validation rows",
    "released": "the split of the code released with the GLCN paper",
    "random": "20 rows a class to fit, then 500 for validation and 1000 for test, drawn by seed {seed}",
}
_RELEASED = {
    "cora": ": rows in LINQS file order, 0–139 to fit (unbalanced: 41/8/21/28/17/11/14 a class), 200–499 for "
    "validation, 500–1499 for test; not the Planetoid split",
    "citeseer": ": the public split, 120 rows to fit, 500 for validation, 1000 for test",
}


def load_citation(name: str, split: str | None, labels: int | None, seed: int, prepare: str | None) -> Dataset:
    """Load Cora, Citeseer or Pubmed.

    Cora's splits ``released`` and ``random`` are served from the bundled copy in LINQS order, whatever else is at hand,
    so that they mean the same rows everywhere.
    """
    valid = CATALOGUE[name].splits
    split = split or _default_split(name)
    if split not in valid:
        raise ValueError(f"split must be one of {valid} for {name}, got {split!r}")
    if labels is not None:
        raise ValueError(f"the splits of {name} have fixed numbers of labels (20 a class); leave labels= out")
    if name == "cora" and split in ("released", "random"):
        source, rows = read_bundled_cora(), RELEASED
    else:
        source, rows = read_planetoid(name)
    if split == "paper":
        rows = Split(rows.train, rows.validation[:PAPER_VALIDATION], rows.test)
    if split == "random":
        rows = per_class_split(source.y, PER_CLASS, NUM_VALIDATION, NUM_TEST, seed)
    description = _DESCRIPTIONS[split].format(train=len(rows.train), seed=seed)
    if split == "released":
        description += _RELEASED[name]
    return source.divided(rows, split, description, prepare)


def _default_split(name: str) -> str:
    """Return the public split, or for Cora the released one where only the bundled copy is at hand."""
    here = all((data_folder() / path).is_file() for path in planetoid_files(name))
    return "released" if name == "cora" and not here else "public"
