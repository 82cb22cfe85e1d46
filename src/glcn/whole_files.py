"""Files that appear whole or not at all, and what is said where one can not be written."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_REMEDIES = {
    errno.ENOSPC: "make room on that disk, or choose another place",
    errno.EDQUOT: "make room within your quota, or choose another place",
    errno.EFBIG: "allow longer files, or choose another place",
    errno.EIO: "choose another disk",
    errno.EROFS: "choose a place that can be written to",
    errno.EACCES: "choose a place that you may write to",
    errno.EPERM: "choose a place that you may write to",
}


@contextmanager
def written_aside(path: Path, *, lasting: bool = False) -> Iterator[Path]:
    """Give a name to write to; afterwards the file takes its place by one rename, or is removed after an error.

    ``lasting`` waits until the content is on the disk, so that a machine that dies keeps the old file or the new one.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with named_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield aside
            if lasting:
                settle(aside)
            aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Say which file or folder could not be written, and what to do, in place of the system's words."""
    try:
        yield
    except OSError as error:
        if error.errno not in _REMEDIES:
            raise
        told = OSError(f"can not write {path}: {os.strerror(error.errno)}; {_REMEDIES[error.errno]}")
        told.errno = error.errno
        raise told from error


def settle(path: Path) -> None:
    """Wait until a file, or the list of a folder's files, is on the disk."""
    if os.name == "nt":
        return  # Windows waits for files that are open for writing only
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_writable(path: Path, remedy: str) -> None:
    """Refuse early what could not be written later: a file or folder where nobody may make one."""
    parent = existing_parent(path)
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise PermissionError(f"can not write {path}: no files can be made in {parent}; {remedy}")


def check_space(path: Path, needed: int, what: str) -> None:
    """Refuse early what would fill the disk."""
    folder = existing_parent(path)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(
            f"{what} needs about {readable(needed)} on disk in {folder}, and {readable(free)} are free; make room, or "
            "choose another place"
        )


def existing_parent(path: Path) -> Path:
    """Return the nearest folder above a path that is there."""
    parent = path.absolute().parent
    while not parent.exists():
        parent = parent.parent
    return parent


def readable(count: int) -> str:
    """Return a number of bytes for people."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1, round(count / 1e6))} MB"
