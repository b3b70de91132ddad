"""The site works from page to page, under any address, and opened from disk."""

import re

import pytest

pytestmark = pytest.mark.slow

LIVES = """() => {
  const { fonts } = document;
  const legend = document.querySelector(".symbols button");
  legend.click();
  const lit = document.querySelectorAll(".lit").length;
  legend.click();
  const widget = document.querySelector(".widget");
  const said = widget.querySelector(".widget-says").textContent;
  const slider = widget.querySelector("input[type=range]");
  slider.stepUp(3);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  return {
    mark: window.mark,
    formulas: document.querySelectorAll(".katex").length > 5 && fonts.check("1em KaTeX_Main"),
    copied: document.querySelectorAll(".lesson-code > .highlight .md-code__button").length ===
      document.querySelectorAll(".lesson-code > .highlight").length,
    lit: lit > 1 && !document.querySelector(".lit"),
    widget: widget.querySelector(".widget-says").textContent !== said,
    scripts: document.querySelectorAll("script[src*=symbols]").length,
  };
}"""
ALIVE = {"formulas": True, "copied": True, "lit": True, "widget": True, "scripts": 1}
ALIVE["mark"] = "kept"


def arrive(page, title: str) -> None:
    """Wait until a lesson with a widget is there."""
    page.wait_for_selector(f".md-content h1:has-text('{title}')")
    page.wait_for_selector(".widget .widget-says")
    page.wait_for_selector(".md-code__button")


def go(page, lesson: str, title: str) -> None:
    page.click(f"nav.md-nav--primary a[href$='{lesson}.html'] >> visible=true >> nth=0")
    arrive(page, title)


def test_pages_come_without_a_reload_and_everything_lives(new_page, served_site):
    page = new_page()
    page.goto(served_site.url)
    page.evaluate("window.mark = 'kept'")
    go(page, "01_squashing", "Squashing")
    assert page.evaluate(LIVES) == ALIVE
    go(page, "02_routing", "Routing by agreement")
    assert page.evaluate(LIVES) == ALIVE
    page.go_back()
    arrive(page, "Squashing")
    assert page.url.endswith("lessons/01_squashing.html")
    assert page.evaluate(LIVES) == ALIVE


def test_what_scrolls_takes_the_focus_after_a_change_of_page(new_page, served_site):
    page = new_page()
    page.goto(served_site.url)
    page.evaluate("window.mark = 'kept'")
    go(page, "02_routing", "Routing by agreement")
    page.set_viewport_size({"width": 360, "height": 800})
    page.wait_for_selector(".lesson-output[tabindex='0'][aria-label='output, scrolls sideways']")
    assert page.evaluate("window.mark") == "kept"


def test_the_site_works_in_a_folder_of_a_host(new_page, published_site):
    page = new_page()
    page.goto(published_site.url)
    page.click("article a[href$='01_squashing.html']")
    page.wait_for_selector(".widget .widget-says")
    assert page.url == f"{published_site.url}lessons/01_squashing.html"
    page.click("a.md-footer__link--next")
    page.wait_for_selector(".md-content h1:has-text('Routing by agreement')")
    page.keyboard.press("/")
    page.keyboard.type("margin loss")
    page.click(".md-search-result__link")
    page.wait_for_url(re.compile(f"^{re.escape(published_site.url)}lessons/03_margin.html"))


def test_pages_and_links_work_from_disk(browser, served_site):
    page = browser.new_page()
    page.goto((served_site.folder / "index.html").as_uri())
    page.click("article a[href$='01_squashing.html']")
    page.wait_for_selector(".md-content h1:has-text('Squashing')")
    page.wait_for_selector("capsnet-squash svg")  # the picture in the widget's place
    page.evaluate("document.fonts.ready")
    loaded = "[...document.fonts].filter((f) => f.status === 'loaded').map((f) => f.family)"
    assert {"Source Serif 4", "JetBrains Mono", "KaTeX_Main"} <= set(page.evaluate(loaded))
    page.click(".symbols button >> nth=0")
    assert page.locator(".lit").count() > 1
    page.click("a.md-footer__link--next")
    page.wait_for_selector(".md-content h1:has-text('Routing by agreement')")
    page.click(".annotated-links a, .symbols a >> nth=0")
    page.wait_for_url("**/symbols.html")
    page.close()
