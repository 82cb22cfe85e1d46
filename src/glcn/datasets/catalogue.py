"""What is known of each dataset by name: files, origin, licence, classes and sizes."""

from dataclasses import dataclass, field
from typing import Literal

_PLANETOID_URL = "https://github.com/kimiyoung/planetoid/raw/master/data/"


@dataclass(frozen=True)
class File:
    """One file to download."""

    url: str
    sha256: str
    size: int  # bytes


@dataclass(frozen=True)
class Entry:
    """A dataset by name."""

    name: str
    title: str
    kind: Literal["citation", "image", "bundled"]
    class_names: tuple[str, ...]
    origin: str
    licence: str
    splits: tuple[str, ...]
    files: dict[str, File] = field(default_factory=dict, repr=False)  # path in the data folder → where it comes from
    archives: dict[str, File] = field(default_factory=dict, repr=False)  # official archives that `import` reads
    images: str = ""  # path of the image file in the data folder
    descriptors: tuple[str, ...] = ()  # known features of the images, the default one first
    labels: tuple[int, ...] = ()  # the paper's numbers of labelled rows, the default one first
    num_validation: int = 0


# Bytes and SHA-256 of each part of a dataset's Planetoid files.
_PLANETOID: dict[str, dict[str, tuple[int, str]]] = {
    "cora": {
        "allx": (257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
        "ally": (47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
        "graph": (59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
        "test.index": (5000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"),
        "tx": (148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
        "ty": (28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
        "x": (22119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"),
        "y": (4054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"),
    },
    "citeseer": {
        "allx": (595021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"),
        "ally": (55623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"),
        "graph": (61987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"),
        "test.index": (5000, "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"),
        "tx": (260321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"),
        "ty": (24135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"),
        "x": (31087, "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"),
        "y": (3014, "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"),
    },
    "pubmed": {
        "allx": (7578385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"),
        "ally": (224739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"),
        "graph": (471808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"),
        "test.index": (6000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"),
        "tx": (405505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"),
        "ty": (12135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"),
        "x": (23172, "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"),
        "y": (854, "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"),
    },
}


def _planetoid(name: str) -> dict[str, File]:
    return {
        f"planetoid/ind.{name}.{part}": File(f"{_PLANETOID_URL}ind.{name}.{part}", sha256, size)
        for part, (size, sha256) in _PLANETOID[name].items()
    }


_MNIST_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_MNIST = {
    "train-images-idx3-ubyte.gz": (9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
    "train-labels-idx1-ubyte.gz": (28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
    "t10k-images-idx3-ubyte.gz": (1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
    "t10k-labels-idx1-ubyte.gz": (4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
}
_CIFAR10 = File(
    "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    170498071,
)
_SVHN = File(
    "http://ufldl.stanford.edu/housenumbers/test_32x32.mat",
    "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
    64275384,
)

_CITATION_SPLITS = ("public", "paper", "released", "random")
_CITATION_LICENCE = "Planetoid's files: MIT (repository); the papers' texts are not part of it"
_SCENES = (
    "Suburb",
    "Coast",
    "Forest",
    "Highway",
    "InsideCity",
    "Mountain",
    "OpenCountry",
    "Street",
    "TallBuilding",
    "Office",
    "Bedroom",
    "Industrial",
    "Kitchen",
    "LivingRoom",
    "Store",
)
_DIGITS = tuple(str(digit) for digit in range(10))

CATALOGUE: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "cora",
            "2708 papers on machine learning and their citations",
            "citation",
            (
                "Theory",
                "Reinforcement_Learning",
                "Genetic_Algorithms",
                "Neural_Networks",
                "Probabilistic_Methods",
                "Case_Based",
                "Rule_Learning",
            ),
            "LINQS (Sen et al. 2008), bundled in LINQS order; Planetoid (Yang et al. 2016) for public and paper",
            "bundled copy: Apache-2.0; " + _CITATION_LICENCE,
            _CITATION_SPLITS,
            files=_planetoid("cora"),
        ),
        Entry(
            "citeseer",
            "3327 papers on computer science and their citations",
            "citation",
            ("AI", "ML", "IR", "DB", "Agents", "HCI"),
            "LINQS (Sen et al. 2008), in the files of Planetoid (Yang et al. 2016)",
            _CITATION_LICENCE,
            _CITATION_SPLITS,
            files=_planetoid("citeseer"),
        ),
        Entry(
            "pubmed",
            "19717 papers on diabetes and their citations",
            "citation",
            ("Experimental", "Type 1", "Type 2"),
            "LINQS (Namata et al. 2012), in the files of Planetoid (Yang et al. 2016)",
            _CITATION_LICENCE,
            ("public", "paper", "random"),
            files=_planetoid("pubmed"),
        ),
        Entry(
            "mnist",
            "10,000 handwritten digits, 1000 of each: one fixed draw from all 70,000",
            "image",
            _DIGITS,
            "LeCun, Cortes and Burges 1998",
            "none stated with the data",
            ("random",),
            archives={name: File(_MNIST_URL + name, sha256, size) for name, (size, sha256) in _MNIST.items()},
            images="mnist/mnist.npz",
            descriptors=("pixels",),
            labels=(1000, 2000, 3000),
            num_validation=1000,
        ),
        Entry(
            "cifar10",
            "10,000 small photographs, 1000 of each of ten kinds: the test set of CIFAR-10",
            "image",
            ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
            "Krizhevsky 2009",
            "none stated with the data",
            ("random",),
            archives={"cifar-10-python.tar.gz": _CIFAR10},
            images="cifar10/cifar10_10k.npz",
            descriptors=("efficientnet_lite0", "pixels"),
            labels=(1000, 2000, 3000),
            num_validation=1000,
        ),
        Entry(
            "svhn",
            "10,000 house-number digits, 1000 of each: a draw from the test set of SVHN",
            "image",
            _DIGITS,
            "Netzer et al. 2011",
            "none stated with the data; for non-commercial use according to its authors",
            ("random",),
            archives={"test_32x32.mat": _SVHN},
            images="svhn/svhn_10k.npz",
            descriptors=("hog", "cnn", "pixels"),
            labels=(1000, 2000, 3000),
            num_validation=1000,
        ),
        Entry(
            "scene15",
            "4485 photographs of 15 kinds of places",
            "image",
            _SCENES,
            "Lazebnik, Schmid and Ponce 2006; Fei-Fei and Perona 2005; Oliva and Torralba 2001",
            "none stated with the data",
            ("random",),
            images="scene15/scene15_images.npz",
            descriptors=("efficientnet_lite0", "pixels"),
            labels=(500, 750, 1000),
            num_validation=500,
        ),
        Entry(
            "digits",
            "1797 handwritten digits of 8 × 8 pixels, from scikit-learn",
            "bundled",
            _DIGITS,
            "Alpaydin and Kaynak 1998, as distributed with scikit-learn",
            "CC BY 4.0 (UCI repository)",
            ("random",),
            labels=(100,),
            num_validation=100,
        ),
    )
}
