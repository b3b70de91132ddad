"""A copy button copies what the author wrote, and nothing else; it covers no code."""

import json
from textwrap import indent

import pytest
from sites import ROOT

pytestmark = pytest.mark.slow

LESSONS = sorted((ROOT / "lessons").glob("*.ipynb"))
# What each button copies; all in one call, for the mouse would take seconds.
COPIES = """async (buttons) => {
  const copies = [];
  for (const button of buttons) {
    await navigator.clipboard.writeText("");
    button.click();
    copies.push(await navigator.clipboard.readText());
  }
  return copies;
}"""
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


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_copy_is_the_source(new_page, served_site, lesson):
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{served_site.url}lessons/{lesson.stem}.html")
    buttons = page.locator(".lesson-code > .highlight .md-code__button[data-md-type=copy]")
    assert buttons.count() == len(sources)
    buttons.first.click()
    assert page.evaluate("navigator.clipboard.readText()") == sources[0]
    assert buttons.evaluate_all(COPIES) == sources


def test_a_copy_of_a_doctest_is_what_is_shown(new_page, served_site):
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{served_site.url}api.html")
    listing = page.locator(".doc-contents .highlight:has(.gp)").first
    listing.hover()
    listing.locator(".md-code__button[data-md-type=copy]").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == listing.locator("code").inner_text().rstrip()
    module = (ROOT / "capsnet_tutorial" / "squashing.py").read_text(encoding="utf-8")
    docstring_end = '\n    """\n'
    assert ">>> " in copied
    assert indent(copied, "    ") + docstring_end in module


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
