"""Pages are light, and nothing on them moves once it can be read."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from sites import ROOT

pytestmark = pytest.mark.slow

PICTURE = re.compile(r"<figure role=\"img\".*?</figure>|src=\"data:image/[^\"]*\"", re.DOTALL)
NARROW = ("index", "lessons/", "routing_gradient")
# And what is laid out in another way than lessons; one module stands for all.
WIDE = (*NARROW, "paper", "symbols", "source/index", "source/routing.")
WATCH = """window.moved = 0;
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.moved += shift.value;
}).observe({ type: "layout-shift", buffered: true });"""


def test_a_lesson_is_light_without_its_pictures_and_not_heavy_with_them(served_site, paths):
    for path in paths:
        if path.startswith("lessons/"):
            html = (served_site.folder / path).read_text(encoding="utf-8")
            assert len(PICTURE.sub("", html).encode()) < 250_000, path
            assert len(html.encode()) < 500_000, path


def test_own_styles_and_scripts_are_light(served_site):
    theme = ROOT / "theme"
    own = [*theme.glob("*.css"), *theme.glob("*.js"), *theme.glob("widgets/*.[cj]s*")]
    assets = served_site.folder / "assets"
    assert sum((assets / path.relative_to(theme)).stat().st_size for path in own) < 60_000


@pytest.mark.parametrize(("width", "begin"), [(360, NARROW), (1440, WIDE)], ids=["360", "1440"])
def test_nothing_moves_while_a_page_comes(new_page, served_site, paths, width, begin):
    visited = [path for path in paths if path.startswith(begin)]
    assert not moving(new_page, served_site.url, visited, width)


@pytest.mark.upkeep
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_moves_while_any_page_comes(new_page, served_site, paths, width):
    modules = tuple(path for path in paths if path.startswith("source/") and "index" not in path)
    visited = [path for path in paths if path not in (*modules, "404.html")]
    assert not moving(new_page, served_site.url, visited, width)


def moving(new_page: Callable[..., Page], url: str, paths: list[str], width: int) -> dict:
    """Return the pages on which something moved while they came, with how much."""
    moved = {}
    for path in paths:
        # On a machine that is busy, a font may come too late: then it comes again.
        for _ in range(3):
            moved[path] = first_visit(new_page(width), url + path)
            if moved[path] < 0.05:
                break
    return {path: shift for path, shift in moved.items() if shift >= 0.05}


def first_visit(page: Page, url: str) -> float:
    """Return how much moved on a page while it came, with nothing in the browser's cache."""
    page.add_init_script(WATCH)
    page.goto(url)
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(200)
    moved = page.evaluate("window.moved")
    page.context.close()
    return moved
