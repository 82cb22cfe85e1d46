import numpy as np
import torch

from glcn.kernels.pattern import ENTRIES_PER_CHUNK, Pattern, chunk_bounds


def test_rows_and_columns():
    pattern = Pattern(torch.tensor([0, 2, 2, 3], dtype=torch.int32), torch.tensor([0, 2, 1], dtype=torch.int32))
    assert pattern.rows.tolist() == [0, 0, 2]
    assert pattern.columns.tolist() == [0, 2, 1]
    assert (pattern.num_rows, pattern.num_edges) == (3, 3)


def test_chunks_cover_all_rows_once_and_are_even():
    counts = np.random.default_rng(0).integers(0, 50, 20_000)
    indptr = np.concatenate([[0], counts.cumsum()]).astype(np.int32)
    bounds = chunk_bounds(indptr)
    assert bounds[0] == 0
    assert bounds[-1] == 20_000
    assert (np.diff(bounds) > 0).all()
    assert np.diff(indptr[bounds]).max() < 1.2 * ENTRIES_PER_CHUNK


def test_one_row_with_everything_and_no_rows():
    assert chunk_bounds(np.array([0, 10 * ENTRIES_PER_CHUNK], np.int32)).tolist() == [0, 1]
    assert chunk_bounds(np.array([0], np.int32)).tolist() == [0]


def test_some_entries_make_a_pattern_of_their_own(any_graph):
    whole = any_graph.pattern
    kept = (whole.rows + whole.columns) % 3 != 1  # says the same of mirror images
    some = whole.only(kept)
    assert torch.equal(some.rows, whole.rows[kept])
    assert torch.equal(some.columns, whole.columns[kept])
    assert torch.equal(some.rows[some.reverse], some.columns)
    assert torch.equal(some.columns[some.reverse], some.rows)
    assert some.num_rows == whole.num_rows
