from statistics import stdev

import pytest

from glcn.experiments.plan import runs_of, sweeps_of, tasks_of
from glcn.experiments.recipe import recipes
from glcn.experiments.records import read
from glcn.experiments.tables import Cell, Found, Grid, grids
from made import made_row, write_results


def found_in(results):
    return Found(read(results / "runs.jsonl"))


def grid_of(title, made):
    (grid,) = [each for each in made if each.title == title]
    return grid


def test_mean_and_sample_standard_deviation():
    cell = Cell("82.9", {0: 80.0, 1: 81.0, 2: 84.0}, 3)
    assert cell.mean == pytest.approx(81.6666667)
    assert cell.ours == "81.67 ± 2.08"
    assert stdev([80, 81, 84]) == pytest.approx(2.0816660)
    assert cell.difference == pytest.approx(81.6666667 - 82.9)


def test_missing_seeds_are_counted():
    assert Cell(None, {0: 80.0, 4: 81.0, 9: 84.0}, 10).ours == "81.67 ± 2.08 (3 of 10)"
    assert Cell(None, {0: 80.0}, 10).ours == "80.00 (1 of 10)"
    assert Cell(None, {0: 80.0}, 1).ours == "80.00"
    assert Cell(None, {}, 10).ours == "–"


def test_the_paper_may_print_a_spread_or_nothing():
    assert Cell("94.28 ± 0.28", {0: 95.0}, 1).difference == pytest.approx(0.72)
    assert Cell(None, {0: 95.0}, 1).difference is None
    assert Cell("94.28 ± 0.28", {}, 1).difference is None
    assert Cell("94.28 ± 0.28", {}, 1).mean is None


def test_a_table_shows_the_known_numbers(tmp_path):
    # One point a seed around the method's own level.
    level = {"glcn": 0.85, "gcn": 0.80}
    write_results(
        tmp_path,
        lambda run: level.get(run.recipe.method.name, 0.5) + 0.01 * (run.seed % 2),
        ["table1", "table2"],
    )
    table = grids("table1", found_in(tmp_path))
    assert [grid.title for grid in table] == ["Citeseer", "Cora", "Cora", "Pubmed"]
    released = table[1].cell("glcn", "released split")
    assert released.ours == "85.50 ± 0.53"
    assert released.paper == "85.5"
    assert released.difference == pytest.approx(0)
    assert released.accuracies == pytest.approx({seed: 85 + seed % 2 for seed in range(10)})
    images = grids("table2", found_in(tmp_path))
    mnist = grid_of("MNIST", images)
    assert mnist.columns == ("1000 labels", "2000 labels", "3000 labels")
    assert mnist.cell("gcn", "1000 labels").ours == "80.50 ± 0.53"
    assert mnist.cell("gcn", "2000 labels").ours == "80.40 ± 0.55"
    assert mnist.cell("gcn", "1000 labels").paper == "90.59 ± 0.26"
    assert mnist.cell("mlp", "1000 labels").paper is None
    for grid, task in zip(table + images, [*tasks_of("table1"), *tasks_of("table2")], strict=True):
        assert [line.name for line in grid.lines] == [each.method.name for each in recipes(task)]
        assert all(cell.wanted in (5, 10) for line in grid.lines for cell in line.cells)


def test_a_sweep_shows_the_known_numbers(tmp_path):
    write_results(tmp_path, lambda run: 0.5 + run.changes["hidden_units"] / 1000, ["table3"])
    (grid,) = grids("table3", found_in(tmp_path))
    assert grid.columns == ("50", "60", "70", "80", "90")
    assert [cell.ours for cell in grid.lines[0].cells] == [f"{number}.00 ± 0.00" for number in (55, 56, 57, 58, 59)]
    assert [cell.paper for cell in grid.lines[1].cells] == ["94.10", "93.96", "93.94", "94.10", "93.89"]
    assert grid.cell("glcn-closeness", "70") is None
    assert [each.columns for each in grids("table4", found_in(tmp_path))] == [
        ("0", "0.0001", "0.001", "0.01", "0.1", "1")
    ] * 2
    assert all(
        cell.ours == "–" for each in grids("figure5", found_in(tmp_path)) for line in each.lines for cell in line.cells
    )


def test_missing_rows_show_as_missing(tmp_path):
    write_results(tmp_path, lambda run: 0.7 if run.seed in (1, 4, 6) else None, ["table1"])
    grid = grids("table1", found_in(tmp_path))[1]
    assert grid.cell("lp", "released split").ours == "70.00 ± 0.00 (3 of 10)"


def test_rows_with_other_settings_are_not_taken(tmp_path):
    (run, *_) = runs_of("table1", datasets=["cora-released"], methods=["lp"])
    stale = made_row(run, 0.9) | {"key": run.key.replace("null", "0.5")}
    assert not grids("table1", Found([stale]))[1].cell("lp", "released split").accuracies
    assert grids("table1", Found([stale, made_row(run, 0.9)]))[1].cell("lp", "released split").accuracies == {0: 90.0}


def test_only_what_was_asked_for_is_shown(tmp_path):
    runs = runs_of("table1", datasets=["cora-released"], methods=["lp", "glcn"], seeds=2)
    (grid,) = grids("table1", Found(made_row(run, 0.8) for run in runs), runs)
    assert [line.name for line in grid.lines] == ["lp", "glcn"]
    assert [cell.ours for line in grid.lines for cell in line.cells] == ["80.00 ± 0.00"] * 2
    assert grids("table2", Found([]), runs) == []


def test_quick_runs_find_their_cells():
    runs = runs_of("table3", quick=True)
    (grid,) = grids("table3", Found(made_row(run, 0.8) for run in runs), runs)
    assert {cell.ours for line in grid.lines for cell in line.cells} == {"80.00"}
    runs = runs_of("table1", quick=True, methods=["gcn"])
    for grid in grids("table1", Found(made_row(run, 0.8) for run in runs), runs):
        assert [cell.ours for cell in grid.lines[0].cells] == ["80.00", "–"][: len(grid.columns)]


def test_a_cell_by_names():
    cell = Cell(None, {0: 1.0}, 1)
    grid = grids("table3", Found([]))[0]
    assert grid.cell("gcn", "50") == Cell("90.41", {}, 5)
    assert grid.cell("gcn", "55") is None
    assert grid.cell("lp", "50") is None
    assert isinstance(grid, Grid)
    assert cell.mean == 1.0


def test_sweeps_and_tables_have_cells_of_their_own():
    """A sweep's run that repeats a recipe's settings counts in both places."""
    (sweep,) = sweeps_of("table3")
    runs = runs_of("table3") + runs_of("table2", datasets=["mnist"])
    found = Found(made_row(run, 0.8 if run.changes else 0.6) for run in runs)
    assert {cell.ours for line in grids("table3", found, runs)[0].lines for cell in line.cells} <= {
        "80.00 ± 0.00",
        "60.00 ± 0.00",
    }
    assert sweep.column.name == "1000"
