"""Nothing unfinished stands in what people read."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_whole_and_their_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"@[A-Z]+@|TODO|FIXME", text)
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (page.parent / target).exists(), target
