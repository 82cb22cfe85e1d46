"""What users' files contain, where a spreadsheet, a terminal or another program will read it."""

import json
from collections.abc import Iterable
from typing import Any

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
_TO_QUOTE = frozenset(',;"\r\n\t')


def harmless(cell: Any) -> str:
    """Return a cell that no spreadsheet runs as a formula: an apostrophe goes before one that could be."""
    text = str(cell)
    return f"'{text}" if _may_be_run(text) else text


def original(cell: str) -> str:
    """Return a cell without the apostrophe that :func:`harmless` put before it, if it did."""
    return cell[1:] if cell.startswith("'") and _may_be_run(cell[1:]) else cell


def csv_line(cells: Iterable[Any]) -> str:
    """Return a line of a CSV file in which no cell is a formula, and none can begin another line."""
    return ",".join(_quoted(harmless(cell)) for cell in cells) + "\n"


def visible(text: object) -> str:
    """Return text in which control characters and other invisible ones are written out, so that none is obeyed."""
    return "".join(each if each.isprintable() else _written_out(each) for each in str(text))


def visible_json(content: Any, indent: int | None = None) -> str:
    """Return JSON in which invisible characters are escaped as JSON has it; it reads the same."""
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text)


def _may_be_run(text: str) -> bool:
    return (text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA)) and not _is_number(text)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if _TO_QUOTE & set(cell) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text == text.strip()


def _written_out(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
