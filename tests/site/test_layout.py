"""Lessons keep their shape: code fits its column, and a note stays beside long code."""

import pytest

pytestmark = pytest.mark.slow

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


def lessons(paths: list[str]) -> list[str]:
    return [path for path in paths if path.startswith("lessons/")]


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
