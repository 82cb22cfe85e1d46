import numpy as np
import pytest

from glcn.datasets.checksum import ChecksumError, check_file, sha256
from glcn.datasets.files import write_npz, written_aside
from glcn.datasets.pictures import find_pictures, read_picture
from glcn.datasets.safe_pickle import unpickle_arrays


def break_off(target):
    with written_aside(target) as aside:
        aside.write_text("half")
        raise RuntimeError("disk full")


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "deep/file.txt"
    with written_aside(target) as aside:
        aside.write_text("new")
        assert not target.exists()
    with pytest.raises(RuntimeError, match="disk full"):
        break_off(target)
    assert [path.name for path in target.parent.iterdir()] == ["file.txt"]
    assert target.read_text() == "new"
    with pytest.raises(ValueError, match=r"[Oo]bject arrays"):
        write_npz(tmp_path / "objects.npz", x=np.array([{}], dtype=object))
    assert not (tmp_path / "objects.npz").exists()


def test_checksums(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    assert sha256(tmp_path / "f") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with pytest.raises(ChecksumError, match="f is damaged or another version"):
        check_file(tmp_path / "f", "0" * 64)


def test_damaged_pickles_name_their_file():
    with pytest.raises(ValueError, match="thing is damaged"):
        unpickle_arrays(b"", "thing")


def test_pictures(tmp_path):
    from PIL import Image

    with pytest.raises(ValueError, match="there are no images in"):
        find_pictures(tmp_path)
    Image.fromarray(np.full((6, 4), 9, np.uint8)).save(tmp_path / "b.PNG")
    (tmp_path / "notes.txt").write_text("")
    (found,) = find_pictures(tmp_path)
    assert read_picture(found).shape == (6, 4, 3)
    assert read_picture(found, grey_size=3).tolist() == [[9] * 3] * 3
