"""Datasets by name."""

from glcn.datasets.catalogue import CATALOGUE
from glcn.datasets.citation import load_citation
from glcn.datasets.dataset import Dataset
from glcn.datasets.digits import load_digits
from glcn.datasets.images import load_image_set

NAMES = tuple(CATALOGUE)


def load(
    name: str,
    *,
    split: str | None = None,
    labels: int | None = None,
    seed: int = 0,
    prepare: str | None = None,
    descriptor: str | None = None,
) -> Dataset:
    """Load a dataset with one of its splits. Nothing is downloaded.

    Parameters
    ----------
    name
        ``"cora"``, ``"citeseer"``, ``"pubmed"``, ``"mnist"``, ``"cifar10"``, ``"svhn"``, ``"scene15"`` or ``"digits"``.
        Cora (in LINQS order) and digits are always there; the others are looked up in the folder that the environment
        variable ``GLCN_DATA`` names, else in the user's cache folder.
    split
        Citation graphs: ``"public"`` (Planetoid's: 20 labels a class, 500 for validation, 1000 for test), ``"paper"``
        (the same with the first 300 validation rows), ``"released"`` (the authors' code: Cora in LINQS order; Citeseer
        as public) or ``"random"`` (20 a class, by ``seed``). Default ``"public"``, or ``"released"`` for Cora where
        only the bundled copy is at hand. Images and digits: ``"random"``.
    labels
        Number of labelled rows in all, for images and digits; default the smallest of the paper (digits: 100).
    seed
        Seed of a random split.
    prepare
        What is done to the features: ``"none"``, ``"rows"``, ``"unit"``, ``"range"``, ``"standard"``, ``"pcaN"``, or
        several joined by "+"; left out, what suits them. The dataset records it.
    descriptor
        Which features of images: ``"pixels"``, or the name of a descriptor file; left out, the dataset's first one.
    """
    if name not in CATALOGUE:
        raise ValueError(f"there is no dataset {name!r}; choose one of {NAMES}")
    if CATALOGUE[name].kind == "image":
        return load_image_set(name, split, labels, seed, prepare, descriptor)
    if descriptor is not None:
        raise ValueError(f"descriptor= is for image sets; {name} has one kind of features")
    if name == "digits":
        return load_digits(split, labels, seed, prepare)
    return load_citation(name, split, labels, seed, prepare)
