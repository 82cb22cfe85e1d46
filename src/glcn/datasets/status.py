"""Which datasets are at hand."""

from glcn.datasets.catalogue import Entry
from glcn.datasets.folder import data_folder
from glcn.datasets.images import found_descriptors


def status(entry: Entry) -> str:
    """Say in a few words whether a dataset can be loaded."""
    if entry.kind == "image":
        descriptors = found_descriptors(entry)
        return f"found ({', '.join(descriptors)})" if descriptors else "missing"
    here = bool(entry.files) and all((data_folder() / path).is_file() for path in entry.files)
    if entry.name == "cora":
        return "found, all splits" if here else "bundled (released, random)"
    if entry.kind == "bundled":
        return "bundled"
    return "found" if here else "missing"
