import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from glcn.cli import app
from glcn.cli.compare import _answers
from glcn.cli.reproduce import _left, _watched
from glcn.experiments import crossvalidation, runner, searches
from glcn.experiments import recipe as recipes
from glcn.experiments.plan import QUICK, runs_of
from glcn.experiments.records import append, read
from glcn.experiments.runner import State, workers
from made import HereWorkers, made_row

CORA = ["--datasets", "cora-released"]
SHARED = {"glcn-plus"}  # its runs are those of the defaults where nothing else was chosen


@pytest.fixture
def command(tmp_path, monkeypatch):
    """The command in an empty folder, with its work done in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for module in (runner, searches, crossvalidation):
        monkeypatch.setattr(module, "workers", HereWorkers)
    monkeypatch.setattr(runner, "current_commit", lambda: "1234567")
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def made_up(command, monkeypatch):
    """The same, with all data and with runs whose accuracy is known: 80 % and one point more for each seed."""
    monkeypatch.setattr(recipes.Task, "load", lambda *_: None)
    monkeypatch.setattr(runner, "compute", lambda run, cache: made_row(run, 0.8 + run.seed / 100))
    return command


def one_line(text):
    return " ".join(text.split())


# reproduce


def test_reproduce_shows_ours_and_the_papers(command, tmp_path):
    result = command("reproduce", "table1", *CORA, "--methods", "lp,logistic", "--seeds", 2)
    assert result.exit_code == 0, result.output
    rows = read(tmp_path / "results/runs.jsonl")
    assert [(row["method"], row["seed"]) for row in rows] == [("lp", 0), ("logistic", 0), ("lp", 1), ("logistic", 1)]
    shown = one_line(result.stdout)
    accuracy = 100 * rows[0]["accuracy"]
    assert f"Cora released split LP {accuracy:.2f} ± 0.00 paper 59.0 Logistic" in shown
    assert "GLCN" not in shown
    told = result.stderr.splitlines()
    assert len(told) == 4
    assert told[0].startswith(f"1 of 4: cora-released released lp seed 0 {accuracy:.2f}% in ")
    assert told[3].startswith("4 of 4: cora-released released logistic seed 1")
    before = (tmp_path / "results/runs.jsonl").read_bytes()
    assert command("reproduce", "table1", *CORA, "--methods", "lp,logistic", "--seeds", 2).exit_code == 0
    assert (tmp_path / "results/runs.jsonl").read_bytes() == before


def test_changed_code_is_named_before_the_work(made_up, monkeypatch):
    words = ["reproduce", "table1", *CORA, "--methods", "lp", "--seeds", 1]
    assert "note:" not in made_up(*words).stderr
    monkeypatch.setattr(runner, "current_commit", lambda: "1234567+")
    told = one_line(made_up(*words).stderr)
    assert "note: the code differs from its last commit, so rows will name 1234567+; commit first" in told
    for kept_apart in ("--show", "--quick"):
        assert "note:" not in made_up(*words, kept_apart).stderr


def test_reproduce_goes_on_with_more_seeds(made_up, tmp_path):
    made_up("reproduce", "table1", *CORA, "--methods", "lp", "--seeds", 1)
    result = made_up("reproduce", "table1", *CORA, "--methods", "lp", "--seeds", 3)
    assert "81.00 ± 1.00" in result.stdout
    assert [row["seed"] for row in read(tmp_path / "results/runs.jsonl")] == [0, 1, 2]


def test_show_computes_nothing(made_up, tmp_path):
    result = made_up("reproduce", "all", "--show")
    assert (result.exit_code, result.output) == (0, "")
    assert list(tmp_path.iterdir()) == []
    made_up("reproduce", "table1", *CORA, "--methods", "lp", "--seeds", 3)
    result = made_up("reproduce", "table1", "--show")
    assert "81.00 ± 1.00 (3 of 10)" in result.stdout
    assert "paper 59.0" in result.stdout
    assert len(read(tmp_path / "results/runs.jsonl")) == 3


def test_compare_with_the_paper_and_between_methods(made_up, monkeypatch):
    level = {"lp": 0.7, "gcn": 0.8, "glcn": 0.9}
    noise = {"lp": 0.001, "gcn": 0.002, "glcn": 0.004}

    def compute(run, cache):
        name = run.recipe.method.name
        return made_row(run, level[name] + noise[name] * run.seed)

    monkeypatch.setattr(runner, "compute", compute)
    result = made_up("reproduce", "table1", *CORA, "--methods", "lp,gcn,glcn", "--seeds", 5, "--compare")
    shown = one_line(result.stdout)
    assert "ours − paper GLCN − it" in shown
    assert "LP +11.20 +20.60 (5 of 5 better, p 0.062)" in shown
    assert "GCN -2.50 +10.40 (5 of 5 better, p 0.062)" in shown
    assert "GLCN +5.30" in shown


def test_quick_is_kept_apart(made_up, tmp_path):
    result = made_up("reproduce", "table1", *CORA, "--quick")
    assert result.exit_code == 0
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["quick.jsonl"]
    rows = read(tmp_path / "results/quick.jsonl")
    methods = {row["method"] for row in rows}
    assert len(rows) == len(methods)
    assert len(methods | SHARED) == 15
    assert {row["settings"]["max_epochs"] for row in rows if "max_epochs" in row["settings"]} == {QUICK["max_epochs"]}
    assert result.stdout.count("80.00") == 15


def test_all_of_quick_is_what_the_paper_has(made_up, tmp_path):
    """Arms and noise take longer than a glance."""
    made_up("reproduce", "all", *CORA, "--quick")
    found = read(tmp_path / "results/quick.jsonl")
    assert not {row["method"] for row in found} & {each.name for each in recipes.methods() if each.role == "arm"}
    made_up("reproduce", "ablation", *CORA, "--quick")
    assert len(read(tmp_path / "results/quick.jsonl")) > len(found)


def test_methods_for_reference_are_run_on_request(made_up, tmp_path):
    shown = made_up("reproduce", "table1", *CORA, "--seeds", 1).stdout
    assert all(f"\n{title} " in shown for title in ("GLCN plus", "GLCN plus, defaults"))  # of one run or of two
    main = {row["method"] for row in read(tmp_path / "results/runs.jsonl")}
    ours = {"glcn", "glcn-closeness", "glcn-plus-default"}
    assert main - SHARED == {"manireg", "lp", "deepwalk", "gcn", "gat", *ours}
    made_up("reproduce", "table1", *CORA, "--seeds", 1, "--methods", "all")
    assert {row["method"] for row in read(tmp_path / "results/runs.jsonl")} - main == {
        *("gcn-original", "gat-original", "glcn-literal", "glcn-released", "logistic", "mlp")
    }
    assert "Logistic regression" in made_up("reproduce", "table1", "--show").stdout


def test_many_columns_are_turned(made_up):
    result = made_up("reproduce", "table4", "--datasets", "mnist", "--seeds", 1)
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["0.0001", "80.00"] in lines


def test_page_and_figures_are_named(made_up, tmp_path):
    result = made_up("reproduce", "figure5", "--seeds", 2, "--page", "docs/results.md")
    assert result.exit_code == 0, result.output
    assert "figure: results/figures/figure5.png" in result.stdout
    assert "page: docs/results.md" in result.stdout
    text = (tmp_path / "docs/results.md").read_text(encoding="utf-8")
    assert "](../results/figures/figure5.png)" in text
    assert "80.50 ± 0.71" not in text  # the page has the tables only; Figure 5 is a picture


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["table9"],
            "there is no 'table9'; choose one of table1, table2, table3, table4, figure3, figure4, figure5, ablation, "
            "noise, rounds or all",
        ),
        (["table1", "--datasets", "corra"], "there is no dataset 'corra'; choose among"),
        (["table1", "--methods", "lp,gnc"], "there is no method 'gnc'; choose one of manireg, lp"),
        (["table1", "--datasets", "pubmed"], "none of the datasets is here; `glcn data list` shows which there are"),
        (["figure3"], "glcn data fetch mnist"),
        (["figure4"], "glcn data import scene15"),
    ],
)
def test_a_mistake_gets_one_sentence(command, tmp_path, words, message):
    result = command("reproduce", *words)
    assert result.exit_code == 2
    assert message in one_line(result.stderr)
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_data_that_is_not_here_is_left_out(command, tmp_path):
    result = command("reproduce", "table1", "--datasets", "cora-released,pubmed", "--methods", "lp", "--seeds", 1)
    assert result.exit_code == 0
    assert [row["task"] for row in read(tmp_path / "results/runs.jsonl")] == ["cora-released"]
    assert "paper 59.0" in result.stdout
    assert "left out: pubmed: pubmed is not here" in one_line(result.stderr)
    assert result.stderr.count("left out") == 1


def test_all_without_the_images_is_what_can_be_done(command, tmp_path):
    result = command("reproduce", "all", "--methods", "lp", "--seeds", 1, "--page", "page.md")
    assert result.exit_code == 0, result.output
    (row,) = read(tmp_path / "results/runs.jsonl")
    assert f"{row['accuracy']:.2%}"[:-1] in result.stdout
    for name in ("pubmed", "mnist", "scene15", "figure3", "figure4"):
        assert f"left out: {name}: " in one_line(result.stderr)
    assert f"{100 * row['accuracy']:.2f} (1 of 10)" in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_a_run_that_fails_is_told_in_one_line(made_up, monkeypatch, tmp_path):
    def compute(run, cache):
        if run.recipe.method.name == "gcn":
            raise FloatingPointError("the loss is [nan]")
        return made_row(run, 0.8)

    monkeypatch.setattr(runner, "compute", compute)
    words = ["reproduce", "table1", *CORA, "--methods", "lp,gcn", "--seeds", 1]
    result = made_up(*words)
    assert result.exit_code == 2
    assert "80.00" in result.stdout
    assert "failed: Cora released GCN seed 0: FloatingPointError: the loss is [nan]" in result.stderr.splitlines()
    assert "Traceback" not in result.output
    assert "Traceback" in made_up(*words, "--debug").stderr
    assert [row["method"] for row in read(tmp_path / "results/runs.jsonl")] == ["lp"]


def test_every_run_that_ends_gets_a_line(made_up, monkeypatch):
    def compute(run, cache):
        if run.seed == 0:
            raise ValueError("no luck")
        return made_row(run, 0.8)

    monkeypatch.setattr(runner, "compute", compute)
    result = made_up("reproduce", "table1", *CORA, "--methods", "lp,gcn", "--seeds", 3, "--jobs", 2)
    told = [line for line in result.stderr.splitlines() if " of 6: " in line]
    assert sorted(line.split(" released ")[1][:10].strip() for line in told) == [
        "gcn seed 1",
        "gcn seed 2",
        "lp seed 1",
        "lp seed 2",
    ]
    assert result.stderr.count("no luck") == 2


def test_a_terminal_gets_a_live_table(monkeypatch, tmp_path):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    runs = runs_of("table1", datasets=["cora-released"], methods=["lp", "gcn"], seeds=2)
    with _watched(["table1"], runs) as listener:
        listener(State(4, [made_row(run, 0.8, seconds=60.0) for run in runs[:2]], [runs[2]], [runs[3]]))
    drawn = terminal.getvalue()
    assert "2 of 4 runs done, about 90 s left" in drawn or "about 2 min left" in drawn
    assert "now: Cora released LP seed 1" in drawn
    assert "80.00 (1 of 2)" in drawn


@pytest.mark.parametrize(
    ("seconds", "words"), [(10.0, "about 10 s left"), (600.0, "about 10 min left"), (9000.0, "about 2.5 h left")]
)
def test_time_left_in_words(seconds, words):
    first, second = runs_of("table1", datasets=["cora-released"], methods=["lp"], seeds=2)
    state = State(2, [made_row(first, 0.8, seconds=seconds)], [], [second])
    assert _left(state) == f", {words}"
    assert _left(State(1, state.rows)) == ""
    assert _left(State(1, [], [], [first])) == ""


# tune


@pytest.fixture
def own_recipes(tmp_path, monkeypatch):
    shutil.copytree(recipes.FOLDER, tmp_path / "recipes")
    monkeypatch.setattr(recipes, "FOLDER", tmp_path / "recipes")
    return tmp_path / "recipes"


def test_tune_shows_the_best_and_writes_it_when_asked(command, tmp_path, own_recipes):
    before = (own_recipes / "cora-released/lp.toml").read_bytes()
    result = command("tune", "cora-released", "lp", "--trials", 3)
    assert result.exit_code == 0, result.output
    rows = read(tmp_path / "results/tuning/cora-released/lp.jsonl")
    chosen = max(rows, key=lambda row: (row["validation_accuracy"], -row["validation_log_loss"]))
    shown = one_line(result.stdout)
    assert "task method trials seeds validation best settings" in shown
    assert f"cora-released lp 3 4 {chosen['validation_accuracy']:.1%} width={chosen['params']['width']}" in shown
    assert (own_recipes / "cora-released/lp.toml").read_bytes() == before
    assert command("tune", "cora-released", "lp", "--trials", 3, "--write").exit_code == 0
    assert read(tmp_path / "results/tuning/cora-released/lp.jsonl") == rows
    home = recipes.task("cora-released")
    assert recipes.recipe(home, recipes.method("lp")).settings == recipes.with_none(chosen["params"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["corra"], "there is no dataset 'corra'; choose one of citeseer"),
        (["cora-released", "gnc"], "there is no recipe 'gnc' for cora-released; choose among manireg"),
        (["cora-released", "graph"], "cora-released has a graph of its own"),
        (["cora-released", "glcn-released"], "glcn-released has nothing to tune"),
        (["mnist", "lp"], "glcn data fetch mnist"),
    ],
)
def test_a_mistake_in_tune_gets_one_sentence(command, tmp_path, words, message):
    result = command("tune", *words)
    assert result.exit_code == 2
    assert message in one_line(result.stderr)
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


# compare


@pytest.fixture
def table(tmp_path):
    """30 labelled rows of two kinds, one of a third kind, and 15 without a label."""
    random = np.random.default_rng(0)
    lines = ["name,kind,a,b"]
    for row in range(46):
        label = "rare" if row == 30 else ("low", "high")[row % 2] if row < 30 else ""
        lines.append(f"r{row},{label},{row % 2 + random.normal() / 3:.4f},{random.normal():.4f}")
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    return ["compare", "mine.csv", "--label", "kind", "--id", "name"]


def test_compare_prints_all_metrics_and_answers_both_questions(command, table, tmp_path):
    methods = ["--methods", "logistic,mlp,gcn,plus-fixed,glcn-plus-default", "--n-neighbors", 5, "--folds", 3]
    result = command(*table, *methods)
    assert result.exit_code == 0, result.output
    shown = one_line(result.stdout)
    assert "mine: 46 rows, 31 of them labelled, 5 nearest neighbours; 3 folds, 1 time" in shown
    assert "class rare has one label, which is never held out" in shown
    assert "accuracy balanced accuracy macro-F1" in shown
    for words in ("Does a graph help? ", "Does a learned graph help? ", "scores in runs/compare-mine.jsonl"):
        assert words in shown
    rows = read(tmp_path / "runs/compare-mine.jsonl")
    assert len(rows) == 5 * 3
    mine = [row for row in rows if row["method"] == "logistic"]
    cells = [
        f"{np.mean([100 * row[name] for row in mine]):.1f} ± {np.std([100 * row[name] for row in mine], ddof=1):.1f}"
        for name in ("accuracy", "balanced_accuracy", "macro_f1")
    ]
    assert f"Logistic regression, no graph {' '.join(cells)}" in shown
    assert np.mean([row["accuracy"] for row in mine]) > 0.7


def test_compare_refuses_to_overwrite(command, table, tmp_path):
    (tmp_path / "mine.jsonl").write_text("keep")
    result = command(*table, "--methods", "lp", "--out", "mine.jsonl")
    assert result.exit_code == 2
    assert "mine.jsonl exists already" in result.stderr
    assert (tmp_path / "mine.jsonl").read_text() == "keep"


def test_a_second_compare_gets_a_file_of_its_own(command, table, tmp_path):
    for _ in range(2):
        assert command(*table, "--methods", "logistic,lp").exit_code == 0
    first, second = tmp_path / "runs/compare-mine.jsonl", tmp_path / "runs/compare-mine-2.jsonl"
    assert read(first) == read(second)


def test_compare_repeats_and_says_when_there_are_fewer_folds(command, tmp_path):
    kinds = ["a"] * 3 + ["b"] * 8
    (tmp_path / "few.csv").write_text("kind,x\n" + "\n".join(f"{kind},{row * row}" for row, kind in enumerate(kinds)))
    result = command("compare", "few.csv", "--label", "kind", "--methods", "logistic", "--repeats", 2)
    shown = one_line(result.stdout)
    assert "3 folds, 2 times" in shown
    assert "not 5 folds: the rarest class has 3 labels" in shown
    assert "Does a" not in shown  # neither of the pairs was run
    assert len(read(tmp_path / "runs/compare-few.jsonl")) == 6


def test_compare_on_a_named_dataset_uses_its_graph(command, tmp_path):
    result = command("compare", "cora", "--methods", "lp", "--folds", 2, "--out", "deep/scores.jsonl")
    assert result.exit_code == 0, result.output
    assert "2708 rows, 440 of them labelled, 5278 edges; 2 folds" in one_line(result.stdout)
    assert np.mean([row["accuracy"] for row in read(tmp_path / "deep/scores.jsonl")]) > 0.6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--methods", "svm"], "there is no method 'svm' to compare; choose one of"),
        (["--labels", 5], "--labels can not be used with a file"),
        (["--n-neighbors", 46], "n_neighbors"),
    ],
)
def test_a_mistake_in_compare_gets_one_sentence(command, table, tmp_path, words, message):
    result = command(*table, *words)
    assert result.exit_code == 2
    assert message in one_line(result.stderr)
    assert "Traceback" not in result.output
    assert not (tmp_path / "runs").exists()


def test_too_few_labels_to_compare(command, tmp_path):
    (tmp_path / "few.csv").write_text("kind,x\na,1\nb,2\nb,3\n,4\n")
    result = command("compare", "few.csv", "--label", "kind")
    assert result.exit_code == 2
    assert "few has fewer than two classes with two labels each; label some more rows" in one_line(result.stderr)


@pytest.mark.parametrize(
    ("accuracies", "words"),
    [
        ({"gcn": [0.9, 0.91, 0.93, 0.96, 1.0], "mlp": [0.8] * 5}, "Does a graph help? Yes: +14.00 (5 of 5 better"),
        ({"gcn": [0.8] * 5, "mlp": [0.9, 0.91, 0.93, 0.96, 1.0]}, "Does a graph help? No, it harms: -14.00 (0 of 5"),
        (
            {"gcn": [0.8, 0.9, 0.7], "mlp": [0.8, 0.8, 0.9]},
            "Does a graph help? It can not be told from these folds: -3.33",
        ),
        ({"glcn-plus-default": [0.9, 0.9], "plus-fixed": [0.9, 0.9]}, "Does a learned graph help? It can not be told"),
    ],
)
def test_answers(accuracies, words):
    rows = [
        {"method": name, "repeat": 0, "fold": fold, "accuracy": accuracy}
        for name, values in accuracies.items()
        for fold, accuracy in enumerate(values)
    ]
    (answer,) = _answers(rows)
    assert answer.startswith(words)


# As it ships: processes, signals


class Reproduction:
    """A real `glcn reproduce` in a process group of its own, as a terminal starts it."""

    def __init__(self, folder, *words):
        self.rows = folder / "results/quick.jsonl"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "glcn", "reproduce", "table1", *CORA, "--quick", *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_until(self, happened):
        while not happened():
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)

    def ctrl_c(self):
        os.killpg(self.process.pid, signal.SIGINT)

    def ended(self):
        out, err = self.process.communicate(timeout=200)
        return self.process.returncode, out, err

    def workers(self):
        return [path.parent.name for path in Path("/proc").glob("[0-9]*/stat") if self._is_worker(path)]

    def _is_worker(self, stat):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            return parent == self.process.pid and b"spawn_main" in (stat.parent / "cmdline").read_bytes()
        except OSError:  # it ended meanwhile
            return False


@pytest.fixture
def reproduction(tmp_path):
    """Start `glcn reproduce`; whatever a test leaves of it is ended."""
    started = []

    def start(*words):
        started.append(Reproduction(tmp_path, *words))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            os.killpg(each.process.pid, signal.SIGKILL)
            each.process.communicate()


STOPPED = "stopped; finished runs are kept, run the same command again to go on"


def test_ctrl_c_in_the_middle_and_the_same_command_again(reproduction):
    words = ["--methods", "lp,mlp", "--seeds", "8"]
    first = reproduction(*words)
    first.wait_until(lambda: len(read(first.rows)) > 0)
    first.ctrl_c()
    code, out, err = first.ended()
    assert code == 130, err
    *told, last = err.splitlines()
    assert last == STOPPED
    assert all(" of 16: cora-released released " in line for line in told)
    assert out == ""
    before = first.rows.read_bytes()
    kept = read(first.rows)
    assert 1 <= len(kept) < 16

    code, out, err = reproduction(*words).ended()
    assert code == 0, err
    assert "Traceback" not in err
    assert first.rows.read_bytes().startswith(before)
    runs = runs_of("table1", datasets=["cora-released"], methods=["lp", "mlp"], seeds=8, quick=True)
    assert sorted(row["key"] for row in read(first.rows)) == sorted(run.key for run in runs)
    assert "LP" in out
    assert "paper 59.0" in out


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ctrl_c_while_workers_start(reproduction):
    run = reproduction("--methods", "lp", "--jobs", "1")
    run.wait_until(run.workers)
    (worker,) = run.workers()
    run.wait_until(lambda: "libtorch" in Path(f"/proc/{worker}/maps").read_text())  # it is in the middle of its imports
    os.kill(run.process.pid, signal.SIGSTOP)  # the parent comes late, so that the worker would have time to complain
    run.ctrl_c()
    time.sleep(1.0)
    os.kill(run.process.pid, signal.SIGCONT)
    assert run.ended() == (130, "", STOPPED + "\n")
    assert not run.rows.exists()


def test_a_dead_worker_gets_one_sentence(command, monkeypatch, tmp_path):
    class Dying(workers):
        """Real workers that are killed as soon as there are some."""

        def __enter__(self):
            pool = super().__enter__()
            for process in pool._processes.values():
                os.kill(process.pid, signal.SIGKILL)
            return pool

    append(
        tmp_path / "results/runs.jsonl", made_row(runs_of("table1", datasets=["cora-released"], methods=["lp"])[0], 0.5)
    )
    before = (tmp_path / "results/runs.jsonl").read_bytes()
    monkeypatch.setattr(runner, "workers", Dying)
    result = command("reproduce", "table1", *CORA, "--methods", "lp", "--seeds", 3)
    assert result.exit_code == 2
    assert "error: a worker died, perhaps for lack of memory; what was finished is kept" in one_line(result.stderr)
    assert "Traceback" not in result.output
    assert (tmp_path / "results/runs.jsonl").read_bytes() == before


def test_rows_are_json_lines(made_up, tmp_path):
    made_up("reproduce", "table1", *CORA, "--methods", "lp", "--seeds", 2, "--results", "elsewhere/deep")
    lines = (tmp_path / "elsewhere/deep/runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["seed"] for line in lines] == [0, 1]


def test_a_target_without_anything_to_do_says_so(command):
    result = command("reproduce", "table2", "--datasets", "cora")
    assert result.exit_code == 2
    assert "table2 has nothing for these datasets" in one_line(result.stderr)


def test_compare_names_the_methods_that_it_knows(command):
    result = command("compare", "digits", "--methods", "gcn-original")
    assert result.exit_code == 2
    assert "choose one of logistic, mlp" in one_line(result.stderr)
