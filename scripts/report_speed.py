"""Measure report pages in a browser: size, first paint, when the map is there, and frames while it is moved.

Times until the map is there are taken twice. Driven by playwright, which listens to everything that happens in a page,
scripts start about a second later; so the page is also opened as a person does, with nobody attached, and its time is
read from its title.

Run: python scripts/report_speed.py [--times 3] RUN/report.html ...; it wants playwright and a chromium (make browser).
"""

import argparse
import base64
import hashlib
import json
import shutil
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

STEPS = 120  # moves of the mouse while panning
OPTIONS = ["--no-sandbox", "--enable-unsafe-swiftshader"]
COUNT_FRAMES = """() => {
    window.frames_ = [];
    const count = (time) => { window.frames_.push(time); window.counting = requestAnimationFrame(count); };
    window.counting = requestAnimationFrame(count);
}"""
GAPS = """() => {
    cancelAnimationFrame(window.counting);
    return window.frames_.slice(1).map((time, place) => time - window.frames_[place]);
}"""
# A last script of the page: it runs after all others have begun, and writes the times into the title.
TELL_BY_TITLE = """
    const told = setInterval(() => {
        const [paint] = performance.getEntriesByName('first-contentful-paint');
        const [map] = performance.getEntriesByName('map');
        if (!paint || !map) return;
        clearInterval(told);
        document.title = `measured ${paint.startTime} ${map.startTime}`;
    }, 50);
"""


def pan(page: Page) -> tuple[list[float], float]:
    """Drag the map about; return the times between frames, in milliseconds, and the longest after letting go.

    Of very many points only the picture moves while it is dragged, and they are drawn when it is let go.
    """
    page.evaluate("document.getElementById('map').scrollIntoView({block: 'center', behavior: 'instant'})")
    box = page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(COUNT_FRAMES)
    for step in range(STEPS):
        page.mouse.move(x + 100 * ((step % 40) / 20 - 1), y + 60 * ((step % 30) / 15 - 1))
    gaps = page.evaluate(GAPS)
    page.evaluate(COUNT_FRAMES)
    page.mouse.up()
    page.wait_for_timeout(1000)
    return sorted(gaps), max(page.evaluate(GAPS))


def attached(page: Page, path: Path) -> dict[str, float]:
    """Open a page by playwright and move its map."""
    page.goto(path.absolute().as_uri())
    page.wait_for_selector("html[data-ready=all]", state="attached", timeout=120_000)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    ready = page.evaluate("performance.getEntriesByName('map')[0].startTime")
    gaps, last = pan(page)
    return {
        "rows": page.evaluate("glcn.data.rows"),
        "megabytes": round(path.stat().st_size / 1e6, 2),
        "first_paint_seconds_attached": round(paint / 1000, 2),
        "map_seconds_attached": round(ready / 1000, 2),
        "frames_a_second": round(1000 * len(gaps) / sum(gaps), 1),
        "median_frame_ms": round(gaps[len(gaps) // 2], 1),
        "slowest_frame_ms": round(gaps[-1], 1),
        "let_go_ms": round(last, 1),
    }


@contextmanager
def plain_browser():
    """Run a browser to which nobody is attached, and yield the address at which it opens and lists pages."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        words = [shutil.which("chromium"), "--headless=new", *OPTIONS, "--remote-debugging-port=0"]
        words += [f"--user-data-dir={folder}", "--window-size=1400,900", "about:blank"]
        running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port = Path(folder) / "DevToolsActivePort"
            while not port.exists() or not port.read_text():
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port.read_text().splitlines()[0]}/json"
        finally:
            running.terminate()
            running.wait()


def unattached(path: Path) -> dict[str, float]:
    """Open a page in a new browser and wait for its title to tell the times."""
    with tempfile.TemporaryDirectory() as folder, plain_browser() as browser:
        copy = Path(folder) / "page.html"
        text = path.read_text(encoding="utf-8")
        # The page lets run its own scripts only: this one is added to those it knows.
        known = base64.b64encode(hashlib.sha256(TELL_BY_TITLE.encode()).digest()).decode()
        text = text.replace("script-src ", f"script-src 'sha256-{known}' ", 1)
        end = text.rindex("</body>")
        copy.write_text(f"{text[:end]}<script>{TELL_BY_TITLE}</script>{text[end:]}", encoding="utf-8")
        address = f"{browser}/new?{urllib.parse.quote(copy.as_uri(), safe=':/')}"
        urllib.request.urlopen(urllib.request.Request(address, method="PUT")).close()
        for _ in range(600):
            time.sleep(0.2)
            with urllib.request.urlopen(f"{browser}/list") as answer:
                titles = [each["title"] for each in json.load(answer)]
            for title in titles:
                if title.startswith("measured "):
                    paint, ready = (round(float(part) / 1000, 2) for part in title.split()[1:])
                    return {"first_paint_seconds": paint, "map_seconds": ready}
    raise TimeoutError(f"{path}: the map was not there within two minutes")


def main() -> None:
    """Measure all pages that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--times", type=int, default=1, help="how often each page is measured")
    asked = parser.parse_args()
    for path in asked.pages:
        for _ in range(asked.times):
            found = unattached(path)
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
                found |= attached(browser.new_page(viewport={"width": 1400, "height": 900}), path)
                browser.close()
            print(path, json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
