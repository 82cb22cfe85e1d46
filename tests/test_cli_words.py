import pytest
from rich.console import Console
from typer.testing import CliRunner

from glcn.cli import app
from glcn.cli.words import plain_console, print_notes, shown, shown_lines

NASTY = "[bold red]x[/] \x1b[31mred\x1b[0m \x1b]0;title\x07 \x08\r\u202eevil \x9b5m"


def printed(capsys, text):
    plain_console(force_terminal=True, width=300, color_system=None).print(text, highlight=False, soft_wrap=True)
    return capsys.readouterr().out.rstrip("\n")


def test_markup_and_control_characters_are_shown_not_obeyed(capsys):
    out = printed(capsys, shown(NASTY))
    assert "[bold red]x[/]" in out
    assert r"\x1b[31mred\x1b[0m" in out
    assert all(character.isprintable() for character in out)


@pytest.mark.parametrize(
    "text", ["plain", "größe 日本語", "back\\slash", ":warning: :x:", "[/]", "a\\[b]", "[link=x]y[/link]"]
)
def test_other_text_is_printed_as_it_is(capsys, text):
    assert printed(capsys, shown(text)) == text


def test_lines_stay_lines():
    assert shown_lines("a\nb\x1b") == "a\nb\\x1b"


def test_long_lists_of_notes_are_cut(capsys):
    print_notes(Console(), [f"note {number}" for number in range(30)])
    out = capsys.readouterr().out
    assert "note 19" in out
    assert "and 10 more" in out


@pytest.mark.parametrize("where", ["column", "class", "id", "edge", "cell"])
def test_files_can_not_write_to_the_terminal(where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evil = "[red]\x1b]0;owned\x07=cmd"
    title = evil if where == "column" else "size"
    lines = [f"name,{title},kind"]
    for row in range(12):
        kind = evil if where == "class" and row % 2 else f"k{row % 2}"
        lines.append(f"{evil if where == 'id' else 'r'}{row},{row * row}{evil * (where == 'cell' and row == 3)},{kind}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    (tmp_path / "e.csv").write_text(f"r0,r1\nr0,{evil}\n")
    words = [
        "fit",
        "t.csv",
        "--label",
        "kind",
        "--id",
        "name",
        "--max-epochs",
        "2",
        "--out",
        "run",
        "--n-neighbors",
        "3",
    ]
    result = CliRunner().invoke(app, words + (["--graph", "e.csv"] if where == "edge" else []))
    assert result.exit_code == (2 if where == "edge" else 0), result.output
    assert "\x1b" not in result.output
    assert "\x07" not in result.output
    if where in ("column", "edge", "cell"):
        assert "[red]" in result.output
