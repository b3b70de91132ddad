"""Everybody can read the pages: axe finds no fault in them, and they make sense without eyes."""

import pytest
from sites import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

AXE = ROOT / "theme/node_modules/axe-core/axe.min.js"
FAULTS = """async () => {
  const level = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
  const { violations } = await axe.run({ runOnly: level, resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target}: ${failureSummary}`));
}"""
UNFOLD = "for (const details of document.querySelectorAll('details')) details.open = true"
LOAD_DECODER = "document.querySelector('capsnet-digit button')?.click()"
# What a reader without eyes misses: formulas without MathML, pictures without words, and headings
# that skip a level.
MUTE = """() => {
  const shown = (element) => element.checkVisibility();
  const named = (element) => element.closest("[role=img]")?.ariaLabel?.trim();
  const levels = [...document.querySelectorAll("article :is(h1, h2, h3, h4, h5, h6)")]
    .filter(shown).map(({ tagName }) => Number(tagName[1]));
  return {
    formulas: [...document.querySelectorAll(".katex")]
      .filter((formula) => !formula.querySelector("math")).length,
    drawings: [...document.querySelectorAll("article :is(svg, canvas)")]
      .filter(shown)
      .filter((svg) => !svg.closest(".katex, [aria-hidden=true]") && !named(svg)).length,
    images: [...document.querySelectorAll("article img")].filter(({ alt }) => !alt.trim()).length,
    titles: levels.filter((level) => level === 1).length - 1,
    skipped: levels.filter((level, place) => level > (levels[place - 1] ?? 0) + 1).length,
  };
}"""


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1440, "dark")])
def test_axe_finds_no_fault(new_page, served_site, paths, width, scheme):
    # Folded and light on a phone, unfolded and dark on a screen: each of the four is looked at.
    page = new_page(width, scheme=scheme)
    page.add_init_script(path=AXE)
    faults = {}
    for path in paths:
        page.goto(served_site.url + path)
        if width == 1440:
            page.evaluate(UNFOLD)
            page.evaluate(LOAD_DECODER)
        faults[path] = page.evaluate(FAULTS)
    assert not {path: found for path, found in faults.items() if found}


def test_pages_make_sense_without_eyes(new_page, served_site, paths):
    page = new_page()
    mute = {}
    for path in paths:
        page.goto(served_site.url + path)
        mute[path] = {kind: count for kind, count in page.evaluate(MUTE).items() if count}
    assert not {path: counts for path, counts in mute.items() if counts}
