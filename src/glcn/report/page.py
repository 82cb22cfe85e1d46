"""One HTML file with everything in it: no server, no network."""

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from glcn.datasets.files import written_aside
from glcn.report.contents import contents
from glcn.report.progress import Report, silent
from glcn.runs import Run

# Text and tables come before plotly, whose script is large, so that there is something to read at once.
_BEFORE_PLOTS = ("base.js", "glance.js")
_AFTER_PLOTS = (
    *("look.js", "plots.js"),
    *("filter.js", "legend.js", "drag.js", "map.js", "keys.js", "find.js"),
    *("row.js", "labels.js", "start.js"),
)


def write_report(run: Run, path: str | Path, *, progress: Report | None = None) -> None:
    """Write the page of a run; the file appears whole or not at all.

    Parameters
    ----------
    run
        A run that :func:`glcn.runs.load_run` read.
    path
        The HTML file.
    progress
        Called with a stage, how much of it is done and how much there is.
    """
    with written_aside(Path(path)) as aside:
        aside.write_text(page(contents(run, progress or silent)), encoding="utf-8")


def page(content: dict[str, Any]) -> str:
    """Put contents into the page."""
    before = [_asset(name) for name in _BEFORE_PLOTS]
    after = [_plotly(), *(_asset(name) for name in _AFTER_PLOTS)]
    return Template(_asset("page.html")).substitute(
        policy=_policy([*before, *after]),
        style=_asset("page.css"),
        data=as_script_data(content),
        before="\n".join(_script(text) for text in before),
        after="\n".join(_script(text) for text in after),
    )


def as_script_data(content: Any) -> str:
    """Write JSON that no HTML parser takes for a tag: every ``<``, ``>`` and ``&`` is escaped."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _policy(scripts: list[str]) -> str:
    """Return what the browser may do: run these very scripts, and load nothing from anywhere."""
    hashes = " ".join(f"'sha256-{base64.b64encode(_sha256(text)).decode()}'" for text in scripts)
    # plotly writes style elements of its own, and makes the functions that draw by WebGL out of text ('unsafe-eval');
    # even so no script runs but those of the hashes.
    return (
        f"default-src 'none'; script-src 'unsafe-eval' {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _script(text: str) -> str:
    if "</script" in text.lower():
        raise ValueError("a script of the page holds the end of a script; write it in two parts")
    return f"<script>{text}</script>"


def _asset(name: str) -> str:
    return files("glcn.report").joinpath("assets", name).read_text(encoding="utf-8")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    # The parser of HTML turns \r\n into \n, and the policy's hash is of what it sees.
    return unwrapped(get_plotlyjs().replace("\r\n", "\n").replace("\r", "\n"))


def unwrapped(script: str) -> str:
    """Take plotly out of the function that serves module loaders; all of it where it is not wrapped as expected.

    A browser looks through the body of a function once when it meets it and again when it is called, and plotly's
    body is five megabytes. The licences before and after it stay.
    """
    licence, found, rest = script.partition("*/")
    _, begun, body = rest.partition('\n"use strict";var Plotly')
    body, ended, _ = body.rpartition("\nwindow.Plotly = Plotly;")
    return f"{licence}{found}{begun}{body}" if begun and ended else script
