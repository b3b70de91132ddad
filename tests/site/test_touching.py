"""Mouse and finger work the widgets, which load what is asked for; what is to be still is still."""

import re

import pytest

pytestmark = pytest.mark.slow

HOLD = "capsnet-squash .hold"
VALUES = """() => [...document.querySelectorAll("capsnet-squash input")].map((one) => +one.value)"""
# What begins to move in the text, with the page's own means or by a script.
WATCH = """window.moves = [];
for (const kind of ["transitionrun", "animationstart"])
  document.addEventListener(kind, (event) => {
    const { target, propertyName, animationName } = event;
    if (target.closest("article"))
      window.moves.push(`${propertyName ?? animationName} of ${target.outerHTML.slice(0, 80)}`);
  });"""
MOVES = """() => new Promise((found) => requestAnimationFrame(() => requestAnimationFrame(() =>
  found([...window.moves, ...document.getAnimations()
    .filter(({ effect }) => effect.target.closest("article"))
    .map(({ effect }) => `an animation of ${effect.target.outerHTML.slice(0, 80)}`)]))))"""


@pytest.mark.parametrize("by", ["mouse", "finger"])
def test_a_handle_is_dragged(new_page, served_site, by):
    page = new_page(has_touch=by == "finger")
    page.goto(served_site.url + "lessons/01_squashing.html")
    hold = page.wait_for_selector(HOLD)
    hold.scroll_into_view_if_needed()
    scrolled = page.evaluate("scrollY")
    assert page.evaluate(VALUES) == [1.6, 1.2, 2]
    box, plane = hold.bounding_box(), page.locator("capsnet-squash svg").first.bounding_box()
    unit = plane["width"] / 6.4  # the plane is as wide as 6.4 is long
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    way = [(x, y), (x - 30, y), (x - 2 * unit, y - 1.8 * unit)]
    if by == "mouse":
        page.mouse.move(*way[0])
        page.mouse.down()
        for point in way[1:]:
            page.mouse.move(*point)
        page.mouse.up()
        page.mouse.move(*way[0])  # no longer held
    else:
        session = page.context.new_cdp_session(page)
        for kind, point in zip(("touchStart", "touchMove", "touchMove"), way, strict=True):
            points = [dict(zip("xy", point, strict=True))]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        assert page.evaluate("scrollY") == scrolled
    assert page.evaluate(VALUES) == pytest.approx([-0.4, 3, 3.03], abs=0.05)
    says = page.locator("capsnet-squash output").inner_text()
    assert float(re.search(r"Its length is (.*?);", says)[1]) == pytest.approx(0.90, abs=0.01)


def test_the_decoder_is_loaded_once_and_only_if_asked_for(new_page, served_site):
    page = new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.goto(served_site.url + "lessons/04_reconstruction.html")
    button = page.locator("capsnet-digit button")
    button.scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")
    assert "digit.js" in asked
    assert "decoder.bin" not in asked
    button.click()
    page.wait_for_selector("capsnet-digit canvas")
    page.locator("capsnet-digit input").first.press("ArrowRight")
    assert asked.count("decoder.bin") == 1


def test_nothing_moves_for_who_wants_it_still(new_page, served_site):
    page = new_page(reduced_motion="reduce")
    page.add_init_script(WATCH)
    page.goto(served_site.url + "lessons/02_routing.html")
    page.hover("article .katex [data-symbol=c_ij] >> nth=0")
    assert page.locator(".lit").count() > 1
    assert not page.evaluate(MOVES)
    page.click("article pre [data-symbol=c_ij] >> nth=0")
    assert not page.evaluate(MOVES)
    for name in ("Next round", "Back"):
        page.click(f"capsnet-routing button:has-text('{name}')")
        assert not page.evaluate(MOVES)
