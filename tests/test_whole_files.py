import errno
from types import SimpleNamespace

import pytest

from glcn import whole_files
from glcn.whole_files import check_space, check_writable, named_errors, written_aside


def break_off(path, error):
    with written_aside(path) as aside:
        aside.write_text("half")
        raise error


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EFBIG])
def test_what_can_not_be_written_is_said_by_its_own_name(tmp_path, code):
    with pytest.raises(OSError, match=r"^can not write .*out\.csv: [^;]+; [^;]+$") as told:
        break_off(tmp_path / "out.csv", OSError(code, "words", str(tmp_path / ".out.csv.1.partial")))
    assert "partial" not in str(told.value)
    assert told.value.errno == code
    assert list(tmp_path.iterdir()) == []


def test_other_errors_stay_as_they_are(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file x"):
        break_off(tmp_path / "out.csv", FileNotFoundError("there is no file x"))
    with pytest.raises(ValueError, match="wrong"), named_errors(tmp_path):
        raise ValueError("wrong")


def test_what_is_there_already_is_replaced_at_once(tmp_path):
    (tmp_path / "out.csv").write_text("before")
    with written_aside(tmp_path / "out.csv", lasting=True) as aside:
        aside.write_text("after")
        assert (tmp_path / "out.csv").read_text() == "before"
    assert (tmp_path / "out.csv").read_text() == "after"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_places_are_looked_at_before_work(tmp_path, monkeypatch):
    check_writable(tmp_path / "deep/er/out.csv", "choose another")
    monkeypatch.setattr(whole_files.os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"out\.csv: no files can be made in .*; choose another$"):
        check_writable(tmp_path / "out.csv", "choose another")
    monkeypatch.setattr(whole_files.shutil, "disk_usage", lambda _: SimpleNamespace(free=5_000_000))
    check_space(tmp_path / "run", 4_000_000, "it")
    with pytest.raises(OSError, match=r"it needs about 9 MB on disk in .*, and 5 MB are free; make room"):
        check_space(tmp_path / "run", 9_000_000, "it")
