"""What a browser looks at on every page of the site, in as few visits as can be."""

from collections.abc import Callable, Sequence

from playwright.sync_api import Page
from sites import ROOT

AXE = ROOT / "theme/node_modules/axe-core/axe.min.js"
WIDTHS = (320, 390, 768, 1440, 2560)
PAPER = 794  # A4 at 96 dots an inch

GO = """(url) => {
  const link = document.body.appendChild(document.createElement("a"));
  link.href = url;
  link.click();
  link.remove();
}"""
THERE = """(url) => location.href === url &&
  document.querySelector("link[rel=canonical]").href === url"""
FAULTS = """async ([only, but]) => {
  const rules = Object.fromEntries(but.map((rule) => [rule, { enabled: false }]));
  const { violations } = await axe.run({ runOnly: only, rules, resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target}: ${failureSummary}`));
}"""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
COLOURS = ["color-contrast", "link-in-text-block"]
UNFOLD = """() => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  document.querySelector("capsnet-digit button")?.click();
}"""
# What a reader without eyes misses: formulas without MathML, pictures without words, and headings
# that skip a level.
MUTE = """() => {
  const shown = (element) => element.checkVisibility();
  const named = (element) => element.closest("[role=img]")?.ariaLabel?.trim();
  const levels = [...document.querySelectorAll("article :is(h1, h2, h3, h4, h5, h6)")]
    .filter(shown).map(({ tagName }) => Number(tagName[1]));
  const mute = {
    formulas: [...document.querySelectorAll(".katex")].filter((one) => !one.querySelector("math")),
    drawings: [...document.querySelectorAll("article :is(svg, canvas)")].filter(shown)
      .filter((one) => !one.closest(".katex, [aria-hidden=true]") && !named(one)),
    images: [...document.querySelectorAll("article img")].filter(({ alt }) => !alt.trim()),
    titles: levels.filter((level) => level === 1).slice(1),
    skipped: levels.filter((level, place) => level > (levels[place - 1] ?? 0) + 1),
  };
  return Object.entries(mute).filter(([, found]) => found.length)
    .map(([kind, found]) => `${found.length} ${kind}`);
}"""
# What stands over the right edge, and no box of its own lets a reader scroll to it.
CUT = """() => {
  const page = document.scrollingElement;
  const scrolls = (box) => ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
  const reached = (box) => box && box !== page && (scrolls(box) || reached(box.parentElement));
  const cut = [...document.querySelectorAll("article *")].filter((element) =>
    element.getBoundingClientRect().right > innerWidth + 1 && element.checkVisibility() &&
    !element.closest(".katex-mathml, .katex svg, .headerlink") && !reached(element));
  const over = page.scrollWidth > innerWidth ? [`the page is ${page.scrollWidth} wide`] : [];
  return [...over, ...cut.map((element) => element.outerHTML.slice(0, 80))];
}"""
CLUTTER = """() => [...document.querySelectorAll(
    "nav, button, input, select, .md-header, .md-footer, .md-sidebar, .headerlink, .md-top")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) &&
    element.getBoundingClientRect().width > 1)
  .map((element) => element.outerHTML.slice(0, 80))"""
UNREAD = """() => {
  const wide = [...document.querySelectorAll("article :is(pre, pre code, .lesson-output)")]
    .filter((box) => getComputedStyle(box).display !== "inline")
    .filter((box) => box.scrollWidth > box.clientWidth + 1);
  const light = (colour) =>
    colour.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) > 3 * 128;
  const pale = [...document.querySelectorAll("article :is(p, li, pre, code, h1, h2, h3)")]
    .filter((part) => part.checkVisibility() && light(getComputedStyle(part).color));
  const dark = light(getComputedStyle(document.body).backgroundColor) ? [] : [document.body];
  return [...wide, ...pale, ...dark].map((part) => part.outerHTML.slice(0, 80));
}"""


def resize(page: Page, width: int, media: str = "screen") -> None:
    """Show a page in a width and on a medium, with every change of colour or place done."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(media=media)
    page.evaluate("() => { for (const change of document.getAnimations()) change.finish(); }")


def by_day(page: Page) -> dict:
    """Look at a page unfolded: on a phone, then on all widths, and on paper."""
    page.evaluate(UNFOLD)
    found = on_a_phone(page, RULES)
    for width in WIDTHS:
        resize(page, width)
        found[width] = page.evaluate(CUT)
    return found | on_paper(page)


def by_night(page: Page) -> dict:
    """Look at a page folded: on a wide screen, and on paper."""
    resize(page, 1440)
    return {"faults": page.evaluate(FAULTS, [RULES, []])} | on_paper(page)


def in_brief(page: Page) -> dict:
    """Look at a page unfolded on a phone, but not at its colours, which others have as well."""
    page.evaluate(UNFOLD)
    found = on_a_phone(page, RULES, COLOURS)
    resize(page, WIDTHS[0])
    return found | {WIDTHS[0]: page.evaluate(CUT)}


def on_a_phone(page: Page, rules: Sequence[str], but: Sequence[str] = ()) -> dict:
    """Look for what bars readers on a narrow screen, by axe's rules but for some, and our own."""
    resize(page, 360)
    return {"faults": page.evaluate(FAULTS, [rules, list(but)]), "mute": page.evaluate(MUTE)}


def on_paper(page: Page) -> dict:
    """Look for what can't be pressed on paper, or not be read."""
    resize(page, PAPER, "print")
    return {"clutter": page.evaluate(CLUTTER), "unread": page.evaluate(UNREAD)}


def walk(page: Page, url: str, paths: Sequence[str], look: Callable[[Page], dict]) -> dict:
    """Go from page to page without a reload, and return what a look found on each."""
    page.add_init_script(path=AXE)
    found = {}
    for path in paths:
        page.emulate_media(media="screen")
        if path in ("404.html", paths[0]) or "404.html" in page.url:
            page.goto(url + path)
        else:
            page.evaluate(GO, url + path)
            page.wait_for_function(THERE, arg=url + path)
        found[path] = look(page)
    return found


def only(kinds: Sequence, found: dict[str, dict]) -> dict:
    """Return what was found of some kinds, by page."""
    return {
        (path, kind): looks[kind]
        for path, looks in found.items()
        for kind in kinds
        if looks.get(kind)
    }
