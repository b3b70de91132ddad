"""A copy button copies what the author wrote, and nothing else; it covers no code."""

import json

import pytest
from sites import ROOT

pytestmark = pytest.mark.slow

LESSONS = sorted((ROOT / "lessons").glob("*.ipynb"))
COVERED = """() => [...document.querySelectorAll(".md-code__button")]
  .filter((button) => button.checkVisibility())
  .flatMap((button) => {
    const spot = button.getBoundingClientRect();
    const words = document.createRange();
    words.selectNodeContents(button.closest("pre").querySelector("code"));
    return [...words.getClientRects()].filter((word) => word.width > 0 &&
      word.right > spot.left && word.left < spot.right &&
      word.bottom > spot.top && word.top < spot.bottom).map(() => button.dataset.clipboardTarget);
  })"""


def telling(sources: list[str]) -> list[int]:
    """Return the places of the cells in which copying could go wrong, and of the first one."""
    marks = ("<", "&", "\n    ", "`", "\\")
    return [n for n, source in enumerate(sources) if n == 0 or any(m in source for m in marks)]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_copy_is_the_source(new_page, served_site, lesson):
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{served_site.url}lessons/{lesson.stem}.html")
    buttons = page.locator(".lesson-code > .highlight .md-code__button[data-md-type=copy]")
    assert buttons.count() == len(sources)
    for number in telling(sources)[:5]:
        buttons.nth(number).click()
        assert page.evaluate("navigator.clipboard.readText()") == sources[number]


def test_no_button_covers_code(new_page, served_site, paths):
    page = new_page()
    covered = {}
    for path in paths:
        if path.startswith("lessons/"):
            page.goto(served_site.url + path)
            for width in (390, 768, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                covered[path, width] = page.evaluate(COVERED)
    assert not {place: found for place, found in covered.items() if found}
