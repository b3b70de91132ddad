"""Pages keep their shape: nothing is cut off at any width, notes stay beside code, paper reads."""

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

WIDTHS = (320, 390, 768, 1440, 2560)
# Of what stands over the right edge, that which no box of its own lets a reader scroll to.
CUT = """() => {
  for (const change of document.getAnimations()) change.finish();
  const page = document.scrollingElement;
  const scrolls = (box) => ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
  const reached = (box) => box && box !== page && (scrolls(box) || reached(box.parentElement));
  const cut = [...document.querySelectorAll("article *")].filter((element) =>
    element.getBoundingClientRect().right > innerWidth + 1 && element.checkVisibility() &&
    !element.closest(".katex-mathml, .katex svg, .headerlink") && !reached(element));
  return [page.scrollWidth - innerWidth, ...cut.map((e) => e.outerHTML.slice(0, 80))];
}"""
WIDE = """() => [...document.querySelectorAll(".lesson-code > .highlight code")]
  .filter((code) => code.scrollWidth > code.clientWidth).map((code) => code.textContent)"""
BESIDE = """() => [...document.querySelectorAll(".lesson-row:not(.lesson-row--prose)")]
  .filter((row) => !row.querySelector(":scope > .annotated"))
  .flatMap((row) => {
    const [note, code] = [".lesson-prose", ".lesson-code"].map((part) =>
      row.querySelector(`:scope > ${part}`).getBoundingClientRect());
    const room = code.height - note.height;
    return room > 300 ? [{ top: code.top + scrollY, bottom: code.bottom + scrollY, room }] : [];
  })"""
OVERLAPS = """() => {
  const head = document.querySelector(".md-header").getBoundingClientRect().bottom;
  const rows = [...document.querySelectorAll(".lesson-row:not(.lesson-row--prose)")];
  const found = [];
  for (const row of rows) {
    const [frame, note, code] = [row, ...[".lesson-prose", ".lesson-code"].map((part) =>
      row.querySelector(`:scope > ${part}`))].map((part) => part.getBoundingClientRect());
    const seen = frame.bottom > head && frame.top < innerHeight;
    if (note.bottom > frame.bottom + 1) found.push(`a note leaves its row at ${frame.top}`);
    if (code.width && note.right > code.left) found.push(`note over code at ${frame.top}`);
    if (seen && frame.top < head && frame.bottom - head > note.height + 40 && note.top < head)
      found.push(`a note is under the header at ${note.top}`);
  }
  return found;
}"""
CLUTTER = """() => [...document.querySelectorAll(
    "nav, button, input, select, .md-header, .md-footer, .md-sidebar, .headerlink, .md-top")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) &&
    element.getBoundingClientRect().width > 1)
  .map((element) => element.outerHTML.slice(0, 80))"""
PAPER = """() => ({
  wide: [...document.querySelectorAll("article :is(pre, code, .lesson-output, .katex-display)")]
    .filter((box) => getComputedStyle(box).display !== "inline")
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => box.outerHTML.slice(0, 80)),
  unread: [...document.querySelectorAll(".lesson-prose p, .lesson-code .highlight code")]
    .filter((part) => part.checkVisibility())
    .filter((part) => Math.max(...getComputedStyle(part).color.match(/\\d+/g).slice(0, 3)) > 128)
    .map((part) => part.textContent.slice(0, 80)),
})"""


def lessons(paths: list[str]) -> list[str]:
    return [path for path in paths if path.startswith("lessons/")]


def test_nothing_is_cut_off_at_any_width(new_page, served_site, paths):
    page = new_page()
    cut = {}
    for path in paths:
        page.goto(served_site.url + path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            cut[path, width] = page.evaluate(CUT)
    assert not {where: found for where, found in cut.items() if found != [0]}


def test_lesson_code_fits_its_column(new_page, served_site, paths):
    page = new_page(1440)
    for path in lessons(paths):
        page.goto(served_site.url + path)
        page.evaluate("document.fonts.ready")
        room = page.evaluate("""() => {
          const code = document.querySelector(".lesson-code > .highlight code");
          const line = document.createElement("span");
          line.textContent = "m".repeat(72);
          code.replaceChildren(line);
          return [line.getBoundingClientRect().right, code.getBoundingClientRect().right];
        }""")
        assert room[0] < room[1], path
        assert not page.evaluate(WIDE), path


def test_a_note_stays_beside_long_code_and_over_nothing(new_page, served_site, paths):
    page = new_page(1440, 700)
    stayed = 0
    for path in lessons(paths):
        page.goto(served_site.url + path)
        for row in page.evaluate(BESIDE):
            page.evaluate("(y) => scrollTo({ top: y, behavior: 'instant' })", row["top"] + 200)
            assert not page.evaluate(OVERLAPS), path
            stayed += 1
    assert stayed > 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_holds_what_is_to_be_read_and_nothing_to_press(new_page, served_site, paths, scheme):
    page = new_page(794, scheme=scheme)  # A4 at 96 dots an inch
    page.emulate_media(media="print")
    for path in paths:
        page.goto(served_site.url + path)
        assert not page.evaluate(CLUTTER), path
        assert page.evaluate(PAPER) == {"wide": [], "unread": []}, path
        assert (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
