"""Pages in a real browser."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
# --no-sandbox: CI runs as root. The other one draws WebGL without a GPU.
OPTIONS = ("--no-sandbox", "--enable-unsafe-swiftshader")
HARMLESS = ("GPU stall due to ReadPixels",)  # what drawing without a GPU says of its own speed


def find_browser() -> str:
    """Return a browser; a test is skipped without one, but fails in CI."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        words = "there is no chromium for the tests of the report page; `make browser` installs it"
        if os.environ.get("CI") == "true":
            pytest.fail(words)
        pytest.skip(words)
    return found


@contextmanager
def launched():
    """A running browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=find_browser(), args=list(OPTIONS))
        yield browser
        browser.close()


class Opened:
    """A page that is open, with all that it complained of and all that it asked for."""

    def __init__(
        self, browser, path: Path, *, width: int = 1300, height: int = 900, theme: str = "light", touch: bool = False
    ):
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            accept_downloads=True,
            has_touch=touch,
            is_mobile=touch,
        )
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.absolute().as_uri())
        self.page.wait_for_selector("html[data-ready=all]", state="attached", timeout=60_000)

    def _heard(self, message):
        if message.type in ("error", "warning") and not any(words in message.text for words in HARMLESS):
            self.complaints.append(message.text)

    def text(self, selector: str) -> str:
        """The text that is displayed there."""
        return self.page.inner_text(selector)

    def table(self, selector: str) -> list[list[str]]:
        """The lines of a table below its heading, as displayed."""
        lines = self.page.query_selector_all(f"{selector} tbody tr")
        return [[cell.inner_text().strip() for cell in line.query_selector_all("th, td")] for line in lines]

    def find(self, name: str) -> None:
        """Type the name of a row and press Enter."""
        self.page.fill("#wanted", name)
        self.page.press("#wanted", "Enter")

    def points_drawn(self) -> int:
        """How many points the plot holds."""
        return self.page.evaluate("document.getElementById('map').data.reduce((sum, trace) => sum + trace.x.length, 0)")

    def place_on_screen(self, row: int) -> tuple[float, float]:
        """Where the map draws a row, in pixels of the window."""
        return tuple(
            self.page.evaluate(
                """row => {
                    const map = document.getElementById('map');
                    map.scrollIntoView({block: 'center', behavior: 'instant'});
                    const {xaxis, yaxis} = map._fullLayout, box = map.getBoundingClientRect();
                    return [box.left + xaxis._offset + xaxis.l2p(glcn.data.map.x[row]),
                            box.top + yaxis._offset + yaxis.l2p(glcn.data.map.y[row])];
                }""",
                row,
            )
        )

    def close(self):
        self.context.close()
