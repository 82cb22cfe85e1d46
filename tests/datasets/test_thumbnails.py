import numpy as np
from PIL import Image

from glcn import datasets
from glcn.datasets.thumbnails import MOST, sheet, write_thumbnails


def test_pictures_lie_row_by_row_in_a_square_sheet(random):
    pictures = random.integers(0, 255, (7, 4, 5)).astype(np.uint8)
    laid = sheet(pictures)
    assert laid.shape == (3 * 4, 3 * 5)
    for number, picture in enumerate(pictures):
        line, column = divmod(number, 3)
        np.testing.assert_array_equal(laid[4 * line : 4 * line + 4, 5 * column : 5 * column + 5], picture)


def test_large_and_coloured_pictures_are_shrunk(random):
    pictures = random.integers(0, 255, (4, 56, 60, 3)).astype(np.uint8)
    laid = sheet(pictures)
    assert laid.shape == (2 * 18, 2 * 20, 3)
    np.testing.assert_allclose(laid[0, 0], pictures[0, :3, :3].mean(axis=(0, 1)), atol=1)


def test_files(tmp_path, random):
    digits = datasets.load("digits").pictures()
    assert digits.shape == (1797, 8, 8)
    write_thumbnails(tmp_path / "sheet.webp", digits)
    with Image.open(tmp_path / "sheet.webp") as picture:
        assert picture.size == (43 * 8, 42 * 8)
    write_thumbnails(tmp_path / "none.webp", np.zeros((MOST + 1, 1, 1), np.uint8))
    assert not (tmp_path / "none.webp").exists()
