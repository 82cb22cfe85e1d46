"""The page under a finger on a small screen."""

import pytest

MAP = "document.getElementById('map')"


@pytest.fixture
def phone(opened, digits_run):
    return opened(digits_run / "report.html", width=390, height=844, touch=True)


def swipe(phone, up=150):
    """Move a finger up from the middle of the map."""
    page = phone.page
    page.evaluate(f"{MAP}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    page.wait_for_timeout(100)
    box = page.locator("#map").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    fingers = phone.context.new_cdp_session(page)
    fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 16):
        fingers.send(
            "Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y - step * up / 15}]}
        )
        page.wait_for_timeout(16)
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(200)


def test_a_finger_scrolls_the_page_and_chooses_by_a_tap(phone):
    page = phone.page
    state = f"[scrollY, {MAP}._fullLayout.yaxis.range[0], glcn.chosen ?? null]"
    page.evaluate(f"{MAP}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    top, low, _ = page.evaluate(state)
    swipe(phone)
    after = page.evaluate(state)
    assert after[0] > top + 50
    assert after[1:] == [low, None]
    page.touchscreen.tap(*phone.place_on_screen(3))
    page.wait_for_selector("#facts")
    page.wait_for_function("Math.abs(document.getElementById('row').getBoundingClientRect().top) < 5")
    assert page.evaluate("document.getElementById('shares').scrollWidth") <= 390
    page.tap("#neighbors tbody tr:last-child button")  # on to a neighbour, from its beginning
    page.wait_for_function("glcn.chosen !== 3")
    page.wait_for_function("Math.abs(document.getElementById('row').getBoundingClientRect().top) < 5")
    page.tap("#row .narrow")  # and back to the map
    page.wait_for_function("Math.abs(document.getElementById('map-part').getBoundingClientRect().top) < 5")
    page.tap("#finger")
    page.evaluate(f"{MAP}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    top, low, _ = page.evaluate(state)
    swipe(phone)
    after = page.evaluate(state)
    assert after[0] == pytest.approx(top, abs=2)
    assert after[1] < low - 1000


def test_nothing_is_cut_off_or_covered(phone):
    page = phone.page
    pieces = page.evaluate(
        """() => {
            const range = document.createRange();
            range.selectNodeContents(document.getElementById('theme'));
            return range.getClientRects().length;
        }"""
    )
    assert pieces == 1
    for box in (each.bounding_box() for each in page.locator("#next input").all()):
        assert box["width"] > 250
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    assert "uncertainty" in page.evaluate(
        "getComputedStyle(document.querySelector('#next td:nth-child(3)'), '::before').content"
    )
    # The legend of the losses stands above their curves, which keep some room.
    legend = page.locator("#losses .legend .bg").bounding_box()
    top, height = page.evaluate(
        """() => {
            const plot = document.getElementById('losses');
            const {_offset, _length} = plot._fullLayout.yaxis;
            return [plot.getBoundingClientRect().top + _offset, _length];
        }"""
    )
    assert legend["y"] + legend["height"] <= top + 1
    assert height > 120
    # The confusion matrix is wider than the screen: it says so, and its true classes stay in sight.
    page.evaluate("document.getElementById('confusion').parentElement.scrollLeft = 150")
    heading = page.locator("#confusion tbody th").first.bounding_box()
    left = page.evaluate("document.getElementById('confusion').parentElement.getBoundingClientRect().left")
    assert heading["x"] == pytest.approx(left, abs=1)
    assert page.locator("#classes-part .hint:visible").last.inner_text().startswith("Scroll sideways")
