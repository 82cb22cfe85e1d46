import numpy as np
import pytest

from glcn import datasets
from glcn.datasets import add_labels, from_arrays


@pytest.fixture
def own(random):
    y = ["a", "b", None, None, None, "a"]
    ids = ["r0", "r1", "=2+3", "r3", "'r4", "r5"]
    return from_arrays(random.normal(size=(6, 2)), y, ids=ids, name="own")


@pytest.fixture
def written(tmp_path):
    def write(*lines):
        path = tmp_path / "labels.csv"
        path.write_text("\n".join(["row,label", *lines]) + "\n", encoding="utf-8")
        return path

    return write


def test_rows_are_found_by_name_and_may_have_new_classes(own, written):
    more = add_labels(own, written("r3,b", "'=2+3,c", "'r4,a", "r5,"), new_classes=True)
    assert more.class_names == ("a", "b", "c")
    assert more.y.tolist() == [0, 1, 2, 1, 0, 0]
    assert more.train.tolist() == [0, 1, 2, 3, 4, 5]
    assert more.fingerprint != own.fingerprint
    assert more.split == "own+added"
    assert more.notes[-2:] == ("3 labels of labels.csv added.", "New class: c.")
    assert own.y.tolist() == [0, 1, -1, -1, -1, 0]
    with pytest.raises(ValueError, match="read-only"):
        more.y[0] = 1


def test_a_label_that_was_known_is_corrected(own, written):
    more = add_labels(own, written("r0,b"), new_classes=True)
    assert more.y[0] == 1
    assert any("differ from a label that was known" in note for note in more.notes)


def test_rows_of_a_named_dataset_leave_the_test_set(written):
    data = datasets.load("digits")
    row, held = int(data.test[0]), int(data.validation[0])
    more = add_labels(data, written(f"{row},{data.y[row]}", f"{held},{data.y[held]}"), new_classes=False)
    assert row in more.train
    assert row not in more.test
    assert row not in data.train
    assert held in more.validation  # what is held out stays so
    assert held not in more.train
    assert len(more.test) == len(data.test) - 1
    assert more.visible_labels[row] == data.y[row]
    assert np.array_equal(more.y, data.y)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["9999,3"], r"labels\.csv names rows that are not there: 9999; there are rows 0 to 1796"),
        (["5,eleven"], "no class of digits: eleven; its classes are 0, 1"),
        (["5,1", "5,2"], "gives row '5' two labels, '1' and '2'; keep one"),
        (["5,"], "holds no label"),
    ],
)
def test_mistakes_are_told(written, lines, message):
    with pytest.raises(ValueError, match=message):
        add_labels(datasets.load("digits"), written(*lines), new_classes=False)


def test_columns_must_be_there(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id,label\n5,1\n")
    with pytest.raises(ValueError, match=r"labels\.csv has no column 'row'"):
        add_labels(datasets.load("digits"), path, new_classes=False)
