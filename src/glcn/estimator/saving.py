"""A fitted classifier on disk: a folder of safetensors and JSON. Nothing in it is run when it is read."""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from glcn.estimator.base import KnownRows
from glcn.estimator.building import network_of
from glcn.estimator.calibration import Calibration
from glcn.estimator.graph_report import GraphReport
from glcn.estimator.variants import RowScale
from glcn.graph import CandidateGraph, CompleteGraph
from glcn.kernels import Pattern
from glcn.manifest import REMEDY, checksum, own_checksum, read_sealed
from glcn.nn import GLCN, GLCNOutput, LearnedGraph, PlusOutput, View, Workspace, known_in_files
from glcn.state_file import read_state, write_state
from glcn.store import Store
from glcn.whole_files import named_errors

if TYPE_CHECKING:
    from glcn.estimator.classifier import GLCNClassifier

SCHEMA = 5
DESCRIPTION, STATE, FILES = "model.json", "model.safetensors", "known"
_FACTS = (
    "round_",
    "n_iter_",
    "best_epoch_",
    "interrupted_",
    "memory_estimate_",
    "neighbor_recall_",
    "history_",
    "settings_",
)


def save_classifier(clf: "GLCNClassifier", folder: Path) -> None:
    """Write a fitted classifier into a new folder, aside first, so that it appears whole or not at all."""
    if folder.exists():
        raise FileExistsError(f"{folder} exists already; choose another folder, or move it away")
    aside = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(aside, ignore_errors=True)  # left by one that was killed
    with named_errors(folder):
        aside.mkdir(parents=True)
    try:
        write_state(aside / STATE, _state(clf))
        if clf._files is not None:
            _take_files(clf._files, aside / FILES)
        description = {
            "schema": SCHEMA,
            "parameters": plain_parameters(clf.get_params(deep=False)),
            "classes": {"dtype": clf.classes_.dtype.str, "labels": clf.classes_.tolist()},
            "checksum": checksum(aside / STATE),
            "known": {} if clf._files is None else _forms(aside / FILES),
        }
        description["own_checksum"] = own_checksum(description)
        (aside / DESCRIPTION).write_text(json.dumps(description, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        aside.rename(folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _take_files(source: Path, target: Path) -> None:
    """Have files in another folder, too: the same ones where the disk is the same, else copies."""
    target.mkdir()
    for path in sorted(source.glob("*.npy")):
        try:
            os.link(path, target / path.name)
        except OSError:
            shutil.copyfile(path, target / path.name)


def _forms(folder: Path) -> dict[str, list[int]]:
    """Return the length and the shape of each file: the content may be far too long for checksums."""
    return {path.name: [path.stat().st_size, *_shape(path)] for path in sorted(folder.glob("*.npy"))}


def _shape(path: Path) -> tuple[int, ...]:
    try:
        return tuple(np.load(path, mmap_mode="r", allow_pickle=False).shape)
    except (ValueError, OSError, EOFError):
        return ()


def load_classifier(kind: type["GLCNClassifier"], folder: Path, store: str | Path | None = None) -> "GLCNClassifier":
    """Read what :func:`save_classifier` wrote; a ValueError says what is wrong with the files."""
    description = _description(folder)
    if checksum(folder / STATE) != description["checksum"]:
        raise ValueError(f"{folder / STATE} is damaged or was changed after it was saved; {REMEDY}")
    if _forms(folder / FILES) != description["known"]:
        raise ValueError(f"files in {folder / FILES} are missing or were changed after they were saved; {REMEDY}")
    state = read_state(folder / STATE)
    try:
        clf = kind(**_from_plain(description["parameters"]))
        _take_over(clf, state, description)
        clf._rows = _known_rows(state, store)
        _take_answers(clf, state, folder / FILES)
    except (KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"{folder} does not hold what this glcn expects ({error}); {REMEDY}") from error
    return clf


def _description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    if not path.is_file() or not (folder / STATE).is_file():
        raise FileNotFoundError(f"{folder} holds no saved model ({DESCRIPTION} and {STATE}); name the folder of one")
    return read_sealed(path, SCHEMA)


def _state(clf: "GLCNClassifier") -> dict[str, Any]:
    state = {name: getattr(clf, name) for name in _FACTS} | {"settings_": plain_parameters(clf.settings_)}
    names = getattr(clf, "feature_names_in_", None)
    return {
        **state,
        "weights": clf.model_.state_dict(),
        "known": _packed_output(clf._known) if clf._files is None else None,
        "rows": _packed_features(clf._rows.X) if clf._rows.store is None else _named_store(clf._rows.store),
        "metric": clf._rows.metric,
        "num_neighbors": clf._rows.num_neighbors,
        "scale": list(clf._scale),
        "report": asdict(clf.graph_report_),
        "calibration": clf.calibration_._asdict(),
        "features": clf.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "validation_rows": torch.from_numpy(clf.validation_rows_),
        "codes": torch.from_numpy(clf._codes),
        "edge_weights": clf._edge_weights,
        "given_weights": clf._given_weights if clf.settings_.get("edge_trust") else None,  # else as above
        "pattern": None if clf._files is None or clf._rows.store is not None else _pattern_of(clf._known.graph),
        "distributions": torch.from_numpy(clf.label_distributions_) if clf._files is None else None,
    }


def _take_over(clf: "GLCNClassifier", state: Mapping[str, Any], description: Mapping[str, Any]) -> None:
    for name in _FACTS:
        setattr(clf, name, state[name])
    clf.settings_ = _from_plain(state["settings_"])
    classes = description["classes"]
    clf.classes_ = np.array(classes["labels"], dtype=np.dtype(classes["dtype"]))
    clf.n_features_in_ = state["features"]
    if state["feature_names"] is not None:
        clf.feature_names_in_ = np.array(state["feature_names"], dtype=object)
    clf.model_ = network_of(clf.settings_, clf.n_features_in_, len(clf.classes_))
    clf.model_.load_state_dict(state["weights"])
    clf.model_.eval()
    clf._scale = RowScale(*state["scale"])
    clf._codes = state["codes"].numpy()
    clf._edge_weights = state["edge_weights"]
    clf._given_weights = state["given_weights"] if clf.settings_.get("edge_trust") else clf._edge_weights
    clf.graph_report_ = GraphReport(**state["report"])
    clf.calibration_ = Calibration(**state["calibration"])
    clf.validation_rows_ = state["validation_rows"].numpy()


def _known_rows(state: Mapping[str, Any], store: str | Path | None) -> KnownRows:
    metric, count = state["metric"], state["num_neighbors"]
    if "store" not in state["rows"]:
        return KnownRows.of(_unpacked_features(state["rows"]), metric, count)
    path = Path(state["rows"]["store"] if store is None else store)
    elsewhere = "say where it is now by store=, or --store on the command line"
    if not path.exists():
        raise FileNotFoundError(f"the store {path}, on which this model was fitted, is not there; {elsewhere}")
    opened = Store.open(path)
    if opened.fingerprint != state["rows"]["fingerprint"]:
        raise ValueError(f"{path} is another store than the one on which this model was fitted; {elsewhere}")
    return KnownRows(opened.X, opened.metric, count, opened.index, opened.path)


def _take_answers(clf: "GLCNClassifier", state: Mapping[str, Any], files: Path) -> None:
    """Take over what the network says of the rows of ``fit``."""
    if state["known"] is not None:
        clf._files = None
        clf._known = _unpacked_output(state["known"], clf.model_)
        clf.label_distributions_ = state["distributions"].numpy()
    else:
        clf._files, space = files, Workspace(files)
        store = clf._rows.store
        graph = CandidateGraph(Pattern(**state["pattern"])) if store is None else Store.open(store).graph.mapped()
        clf._known = known_in_files(clf.model_, graph, space)
        clf.label_distributions_ = space.open("probabilities").numpy()
    clf.transduction_ = clf.classes_[clf.label_distributions_.argmax(axis=1)]


def _packed_output(output: GLCNOutput | PlusOutput) -> dict[str, Any]:
    graph = output.graph
    packed: dict[str, Any] = {"logits": output.logits, "embedding": graph.embedding}
    if isinstance(graph, LearnedGraph):
        packed |= {"score": graph.score, "square": graph.square, "values": graph.values}
        packed["pattern"] = _pattern_of(graph)
    if isinstance(output, PlusOutput):
        packed["views"] = [{"degree": view.degree, "sums": list(view.sums)} for view in output.views]
    else:
        packed["messages"] = list(output.messages)
    return packed


def _pattern_of(graph: Any) -> dict[str, Any]:
    pattern = graph.pattern
    return {"indptr": pattern.indptr, "indices": pattern.indices, "reverse": pattern.reverse}


def _unpacked_output(packed: Mapping[str, Any], model: Any) -> GLCNOutput | PlusOutput:
    logits, embedding = packed["logits"], packed["embedding"]
    if "pattern" not in packed:
        graph = model.graph_learning.learn(embedding, CompleteGraph(len(embedding)))
    else:
        pattern = Pattern(**packed["pattern"])
        graph = LearnedGraph(embedding, packed["score"], packed["square"], packed["values"], pattern)
    if isinstance(model, GLCN):
        return GLCNOutput(logits, graph, tuple(packed["messages"]))
    views = tuple(View(view["degree"], tuple(view["sums"])) for view in packed["views"])
    return PlusOutput(logits, logits[None], graph, None, None, views)


def _named_store(folder: Path) -> dict[str, str]:
    return {"store": str(folder.resolve()), "fingerprint": Store.open(folder).fingerprint}


def _packed_features(X: Any) -> dict[str, Any]:
    if not sparse.issparse(X):
        return {"dense": _tensor(X)}
    return {"shape": list(X.shape), "parts": [_tensor(part) for part in (X.data, X.indices, X.indptr)]}


def _unpacked_features(packed: Mapping[str, Any]) -> Any:
    if "dense" in packed:
        return packed["dense"].numpy()
    return sparse.csr_matrix(tuple(part.numpy() for part in packed["parts"]), shape=tuple(packed["shape"]))


def _tensor(array: NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.array(array, order="C"))


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON holds them; a generator of random numbers can not be kept, nor a folder elsewhere."""
    plain = {name: _item(value) for name, value in parameters.items()}
    if not isinstance(plain["random_state"], int):
        plain["random_state"] = None
    plain["work_dir"] = None
    if isinstance(plain["class_weight"], Mapping):  # the keys of JSON are words
        pairs = plain["class_weight"].items()
        plain["class_weight"] = {"pairs": [[_item(label), float(weight)] for label, weight in pairs]}
    return plain


def _from_plain(plain: Mapping[str, Any]) -> dict[str, Any]:
    parameters = dict(plain)
    if isinstance(parameters["class_weight"], Mapping):
        parameters["class_weight"] = dict(parameters["class_weight"]["pairs"])
    return parameters


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
