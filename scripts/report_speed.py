"""Measure report pages in a browser: size, first paint, when the map is there, and frames while it is moved.

Run: python scripts/report_speed.py RUN/report.html ...; it wants playwright and a chromium (make browser).
"""

import json
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

STEPS = 120  # moves of the mouse while panning
COUNT_FRAMES = """() => {
    window.frames_ = [];
    const count = (time) => { window.frames_.push(time); window.counting = requestAnimationFrame(count); };
    window.counting = requestAnimationFrame(count);
}"""
GAPS = """() => {
    cancelAnimationFrame(window.counting);
    return window.frames_.slice(1).map((time, place) => time - window.frames_[place]);
}"""


def pan(page: Page) -> list[float]:
    """Drag the map about and return the times between frames, in milliseconds."""
    page.evaluate("document.getElementById('map').scrollIntoView({block: 'center', behavior: 'instant'})")
    box = page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(COUNT_FRAMES)
    for step in range(STEPS):
        page.mouse.move(x + 100 * ((step % 40) / 20 - 1), y + 60 * ((step % 30) / 15 - 1))
    gaps = page.evaluate(GAPS)
    page.mouse.up()
    return gaps


def measure(page: Page, path: Path) -> dict[str, float]:
    """Open a page and move its map."""
    page.goto(path.absolute().as_uri())
    page.wait_for_selector("html[data-ready=all]", state="attached", timeout=120_000)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    ready = page.evaluate("performance.getEntriesByName('map')[0].startTime")
    gaps = sorted(pan(page))
    return {
        "rows": page.evaluate("glcn.data.rows"),
        "megabytes": round(path.stat().st_size / 1e6, 2),
        "first_paint_seconds": round(paint / 1000, 2),
        "map_seconds": round(ready / 1000, 2),
        "frames_a_second": round(1000 * len(gaps) / sum(gaps), 1),
        "median_frame_ms": round(gaps[len(gaps) // 2], 1),
        "slowest_frame_ms": round(gaps[-1], 1),
    }


def main() -> None:
    """Measure all pages that are named."""
    with sync_playwright() as play:
        options = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        for name in sys.argv[1:]:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            print(name, json.dumps(measure(page, Path(name))))
            page.close()


if __name__ == "__main__":
    main()
