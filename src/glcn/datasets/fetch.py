"""Downloads: checked by SHA-256, resumed where they were cut off, in place only when whole."""

import os
from collections.abc import Callable
from pathlib import Path

from glcn.datasets.archives import import_archive
from glcn.datasets.catalogue import CATALOGUE, File
from glcn.datasets.checksum import ChecksumError, sha256
from glcn.datasets.folder import VARIABLE, data_folder

ATTEMPTS = 4
BLOCK = 1 << 18
Report = Callable[[str, int, int], None]  # file name, bytes so far, bytes in all


class DownloadError(OSError):
    """A download failed for good; what had arrived is kept and the next try goes on from there."""


def fetch(name: str, report: Report | None = None) -> list[Path]:
    """Download a dataset into the data folder and return its files; what is there and whole is not fetched again."""
    if name not in CATALOGUE:
        raise ValueError(f"there is no dataset {name!r}; choose one of {tuple(CATALOGUE)}")
    entry = CATALOGUE[name]
    if entry.files:
        return [download(file, data_folder() / path, report) for path, file in entry.files.items()]
    if entry.images and (data_folder() / entry.images).is_file():
        return [data_folder() / entry.images]
    if entry.archives:
        folder = data_folder() / "downloads" / name
        archives = [download(file, folder / path, report) for path, file in entry.archives.items()]
        return [import_archive(name, archives[0] if len(archives) == 1 else folder)]
    if entry.kind == "bundled":
        raise ValueError(f"{name} is bundled: there is nothing to download")
    raise ValueError(f"{name} has no download; get its images and run `glcn data import {name} FOLDER`")


def download(file: File, target: Path, report: Report | None = None) -> Path:
    """Download one file with pooch."""
    import pooch

    if target.is_file() and sha256(target) == file.sha256:
        return target
    _make_folder(target.parent)
    pooch.get_logger().setLevel("WARNING")  # its note on each download would break through the progress bar
    try:
        pooch.retrieve(
            file.url, f"sha256:{file.sha256}", target.name, target.parent, downloader=_Resuming(file, report)
        )
    except FileNotFoundError:
        if not (target.is_file() and sha256(target) == file.sha256):  # another process may have brought it meanwhile
            raise
    except ValueError as error:
        raise ChecksumError(
            f"{target.name} arrived damaged or is another version (its SHA-256 differs); nothing was kept, try again"
        ) from error
    return target


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        raise PermissionError(f"can not write into {folder}; set {VARIABLE} to a folder that can be written")


class _Resuming:
    """A downloader for pooch that keeps what arrived, and asks for the rest."""

    def __init__(self, file: File, report: Report | None) -> None:
        self.file = file
        self.report = report

    def __call__(self, url: str, output_file: str, pooch: object) -> None:  # noqa: ARG002 (pooch's signature)
        import requests

        output = Path(output_file)
        partial = output.parent / f".{self.file.sha256[:16]}.partial"
        for attempt in range(ATTEMPTS):
            try:
                self._continue(url, partial)
                break
            except requests.HTTPError as error:
                raise DownloadError(f"the server refused {url}: {error}") from error
            except requests.RequestException as error:
                if attempt + 1 == ATTEMPTS:
                    raise DownloadError(
                        f"downloading {url} failed after {ATTEMPTS} attempts ({type(error).__name__}); "
                        "run the same command again to go on from here"
                    ) from error
        partial.replace(output)

    def _continue(self, url: str, partial: Path) -> None:
        import requests

        have = partial.stat().st_size if partial.exists() else 0
        headers = {"Accept-Encoding": "identity"}  # a compressed answer could not be continued
        if have:
            headers["Range"] = f"bytes={have}-"
        with requests.get(url, headers=headers, stream=True, timeout=30) as response:
            if have and response.status_code == requests.codes.requested_range_not_satisfiable:
                return  # everything is here; the checksum will tell
            response.raise_for_status()
            if response.status_code != requests.codes.partial_content:
                have = 0  # the server starts over
            total = max(self.file.size, have + int(response.headers.get("Content-Length", 0)))
            with partial.open("ab" if have else "wb") as file:
                for block in response.iter_content(BLOCK):
                    file.write(block)
                    have += len(block)
                    if self.report is not None:
                        self.report(url.rsplit("/", 1)[-1], have, total)
