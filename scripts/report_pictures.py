"""Take the pictures of docs/report.md: pages of runs on Cora, MNIST and a table of irises, and parts of them.

Run: python scripts/report_pictures.py FOLDER, where FOLDER holds the runs cora, mnist and iris with their report.html.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs/images"


def save(shot: bytes, name: str, height: int | None = None) -> None:
    """Write a picture, or its upper part, in 256 colours, which is a third of the size."""
    with Image.open(io.BytesIO(shot)) as whole:
        picture = whole.crop((0, 0, whole.width, height or whole.height))
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(IMAGES / name, optimize=True)


def opened(page: Page, path: Path, row: str) -> Page:
    """Open a page and choose a row."""
    page.goto(path.absolute().as_uri())
    page.wait_for_selector("html[data-ready=all]", state="attached", timeout=120_000)
    page.fill("#wanted", row)
    page.press("#wanted", "Enter")
    page.wait_for_selector("#facts")
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(500)
    return page


def phone(browser: Browser, path: Path, row: str) -> None:
    """Show the map and the chosen row beside each other, which stand below each other on a phone, each to its end."""
    context = browser.new_context(viewport={"width": 390, "height": 3400}, has_touch=True, is_mobile=True)
    page = opened(context.new_page(), path, row)
    page.evaluate("window.scrollTo({top: 0, behavior: 'instant'})")
    box = {each: page.locator(each).bounding_box() for each in ("#map-title", ".map-side", "#row")}
    top, end = box["#map-title"]["y"] - 12, box[".map-side"]["y"] + box[".map-side"]["height"]
    sides = [
        page.screenshot(clip={"x": 0, "y": top, "width": 390, "height": end - top}),
        page.screenshot(clip={"x": 0, "y": box["#row"]["y"], "width": 390, "height": box["#row"]["height"] + 12}),
    ]
    context.close()
    pictures = [Image.open(io.BytesIO(side)) for side in sides]
    both = Image.new("RGB", (800, max(each.height for each in pictures)), "white")
    for place, picture in enumerate(pictures):
        both.paste(picture, (410 * place, 0))
    shot = io.BytesIO()
    both.save(shot, "png")
    save(shot.getvalue(), "report_phone.png")


def main() -> None:
    """Take all pictures."""
    folder = Path(sys.argv[1])
    with sync_playwright() as play:
        options = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        for name, row, theme in (("cora", "1900", "light"), ("mnist", "4000", "dark"), ("iris", "iris-77", "light")):
            page = browser.new_page(viewport={"width": 1300, "height": 1240}, color_scheme=theme)
            opened(page, folder / name / "report.html", row)
            save(page.screenshot(), f"report_{name}.png")
            if name == "mnist":
                for place, label in enumerate("208"):
                    page.locator("#next input").nth(place).fill(label)
                save(page.locator("#next-part").screenshot(), "report_label_next.png", 640)
            if name == "cora":
                save(page.locator("#classes-part").screenshot(), "report_classes.png")
            page.close()
        phone(browser, folder / "mnist/report.html", "4000")
        browser.close()


if __name__ == "__main__":
    main()
