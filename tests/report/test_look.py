"""Colours, shapes and the buttons of the plots, as they are displayed."""

from itertools import combinations

import pytest
from colour_vision import SEEN_BY, ciede2000, contrast, difference

APART = 10  # ΔE; a difference of 1 is just seen side by side


def test_differences_of_colours_are_those_of_the_published_pairs():
    """Pairs 1, 7, 9, 17 and 25 of Sharma, Wu and Dalal (2005), table 1."""
    for one, other, expected in (
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ):
        assert ciede2000(one, other) == pytest.approx(expected, abs=1e-4)


def test_no_button_of_a_plot_sends_anything_away(digits_page):
    page = digits_page.page
    page.hover("#map")
    titles = page.evaluate("[...document.querySelectorAll('.modebar-btn')].map(each => each.dataset.title)")
    assert titles == ["Zoom in", "Zoom out", "Reset axes"]  # of all plots together
    servers = page.evaluate(
        "[...document.querySelectorAll('.js-plotly-plot')].map(each => each._context.plotlyServerURL)"
    )
    assert servers == [""] * 4


def test_classes_are_told_apart_by_colour_blind_readers(digits_page):
    page = digits_page.page
    codes = "[...Array(12).keys()]"
    looks = page.evaluate(f"{codes}.map(code => [glcn.colourOfClass(code), glcn.shapeOfClass(code)])")
    unknown, open_circle = page.evaluate("[glcn.colourOfClass(-1), glcn.shapeOfClass(-1)]")
    assert open_circle not in {shape for _, shape in looks}
    assert len({shape for _, shape in looks[:6]}) == 6  # from the first class on
    for eye in SEEN_BY:
        for (one, shape), (other, other_shape) in combinations(looks, 2):
            assert shape != other_shape or difference(one, other, eye) > APART, (eye, one, other)
        for (one, _), (other, _) in combinations(looks[:7], 2):  # even where points are too small for shapes
            assert difference(one, other, eye) > APART, (eye, one, other)
        for colour, _ in looks:
            assert difference(colour, unknown, eye) > APART, (eye, colour)
    for (one, _), (other, _) in combinations(looks, 2):
        assert difference(one, other) > APART
    many = page.evaluate("[...Array(72).keys()].map(code => glcn.colourOfClass(code) + glcn.shapeOfClass(code))")
    assert len(set(many)) == 72
    # What is drawn and what the legend shows are these.
    page.select_option("#colour", "truth")
    drawn = page.evaluate("document.getElementById('map').data.map(trace => [trace.marker.color, trace.marker.symbol])")
    assert drawn == looks[:10]
    shown = page.evaluate(
        "[...document.querySelectorAll('#legend .swatch')].map(each => getComputedStyle(each).backgroundColor)"
    )
    assert [difference(one, colour) for one, (colour, _) in zip(shown, looks[:10], strict=True)] == [0] * 10


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_sureness_is_seen_at_both_ends_and_covers_no_point(opened, own_run, theme):
    page = opened(own_run / "report.html", theme=theme).page
    page.select_option("#colour", "confidence")
    marker = page.evaluate("document.getElementById('map').data[0].marker")
    assert marker["cmin"] == pytest.approx(1 / 3)
    assert page.inner_text("#legend .scale").split("\n")[0] == "33% sure"
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ends = [colour for _, colour in marker["colorscale"]]
    for colour in ends:
        assert contrast(colour, paper) > 3, (theme, colour)
    assert min(difference(ends[0], ends[-1], eye) for eye in SEEN_BY) > 3 * APART
    assert page.locator("#map .colorbar, #map .cbfills").count() == 0
    strip, map_box = page.locator("#legend .strip").bounding_box(), page.locator("#map").bounding_box()
    assert strip["y"] >= map_box["y"] + map_box["height"]
