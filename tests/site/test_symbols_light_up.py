"""A symbol that is hovered or tapped lights up wherever it stands, and a line says what it is."""

import pytest
from playwright.sync_api import Page
from symbols import SYMBOLS

pytestmark = pytest.mark.slow

PAGE = "lessons/02_routing.html"
SYMBOL = next(symbol for symbol in SYMBOLS if symbol.key == "c_ij")
PLACES = [f"article {place} [data-symbol=c_ij] >> nth=0" for place in (".katex", "pre", ".symbols")]
LINE = ".symbols [role=status]"
# The symbols of which an appearance shines, and of which one does not.
SHINING = """() => {
  const marks = [...document.querySelectorAll("[data-symbol]")];
  const shines = (mark) => getComputedStyle(mark).backgroundColor !== "rgba(0, 0, 0, 0)";
  return [shines, (mark) => !shines(mark)].map((kind) =>
    [...new Set(marks.filter(kind).map((mark) => mark.dataset.symbol))]);
}"""


def is_lit(page: Page) -> bool:
    """Return whether all of the symbol shines and is explained; else, nothing may be."""
    shining, dark = page.evaluate(SHINING)
    line = page.locator(LINE).text_content()
    if not shining:
        assert not line
        return False
    assert shining == ["c_ij"]
    assert "c_ij" not in dark
    said = f"{SYMBOL.code[0]} [{SYMBOL.shape}] {SYMBOL.name}: {SYMBOL.meaning}"
    assert line.endswith(said)
    return True


def test_a_symbol_is_lit_while_the_mouse_is_on_it(new_page, served_site):
    page = new_page()
    page.goto(served_site.url + PAGE)
    assert not is_lit(page)
    for place in PLACES:
        page.hover(place)
        assert is_lit(page)
        page.hover("article h1")
        assert not is_lit(page)
    page.hover(PLACES[0])
    page.keyboard.press("Escape")
    assert not is_lit(page)


def test_a_symbol_is_lit_and_put_out_by_touch(new_page, served_site):
    page = new_page(390, has_touch=True)
    page.goto(served_site.url + PAGE)
    for place in PLACES:
        page.tap(place)
        assert is_lit(page)
        page.tap("article h1")
        assert not is_lit(page)
    for again in (lambda: page.tap(PLACES[0]), lambda: page.keyboard.press("Escape")):
        page.tap(PLACES[0])
        assert is_lit(page)
        again()
        assert not is_lit(page)
