"""Every control can be reached and worked without a mouse."""

import pytest

pytestmark = pytest.mark.slow

WIDGETS = {
    "squash": "lessons/01_squashing.html",
    "routing": "lessons/02_routing.html",
    "margin": "lessons/03_margin.html",
    "digit": "lessons/04_reconstruction.html",
}
OPEN = "document.querySelector('#__search').checked"
SCHEME = "document.body.dataset.mdColorScheme"
KEYS = {
    "range": "ArrowRight",
    "number": "ArrowUp",
    "radio": "ArrowDown",
    "checkbox": "Space",
    "select-one": "ArrowDown",
    "button": "Enter",
}
# What a widget shows beside the control that was worked: its words, values and drawings.
STATE = """([widget, control]) => [
  widget.textContent,
  ...[...widget.querySelectorAll("svg")].map((drawing) => drawing.outerHTML),
  ...[...widget.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()),
  ...[...widget.querySelectorAll("input, select")]
    .filter((one) => one !== control && one.type !== "radio").map((one) => one.value),
].join()"""


def tab_to(page, selector: str, most: int = 80) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"no Tab led to {selector}")


def test_the_colours_change_by_key_and_are_kept(new_page, served_site):
    page = new_page()
    page.goto(served_site.url)
    tab_to(page, "[data-md-component=palette] input")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{SCHEME} === 'slate'")
    page.goto(served_site.url + "paper.html")
    assert page.evaluate(SCHEME) == "slate"


def test_search_opens_leads_on_and_closes_by_key(new_page, served_site):
    page = new_page()
    page.goto(served_site.url)
    page.keyboard.press("/")
    page.keyboard.type("squash")
    page.wait_for_selector(".md-search-result__item mark")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".md-content h1:has-text('Squashing')")
    page.wait_for_function(f"!{OPEN}")
    page.keyboard.press("/")
    page.wait_for_function(OPEN)
    page.keyboard.press("Escape")
    page.wait_for_function(f"!{OPEN}")


def test_an_answer_unfolds_by_key(new_page, served_site):
    page = new_page()
    page.goto(served_site.url + "lessons/01_squashing.html")
    page.focus("article summary >> nth=0")
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector('article details').open")


def test_a_group_of_modules_unfolds_by_key(new_page, served_site):
    page = new_page()
    page.goto(served_site.url)
    folded = page.locator("nav.md-nav--primary a[href$='source/training.html']")
    assert not folded.is_visible()
    page.focus("label.md-nav__link:has-text('Training and data')")
    page.keyboard.press("Enter")
    folded.wait_for(state="visible")


def test_code_is_copied_by_key(new_page, served_site):
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(served_site.url + "lessons/01_squashing.html")
    page.wait_for_selector(".md-code__button")
    tab_to(page, ".md-code__button")
    page.keyboard.press("Enter")
    assert "capsnet_tutorial" in page.evaluate("navigator.clipboard.readText()")


def test_a_symbol_is_lit_and_put_out_by_key(new_page, served_site):
    page = new_page()
    page.goto(served_site.url + "lessons/02_routing.html")
    tab_to(page, ".symbols button")
    for key in ("Enter", "Space"):
        page.keyboard.press(key)
        assert page.locator(".lit").count() > 1
        assert page.locator(".symbols [role=status]").inner_text()
        page.keyboard.press("Escape")
        assert page.locator(".lit").count() == 0


def answers(page, widget, control, key: str) -> bool:
    """Return whether a widget shows something else once a key was pressed on a control of it."""
    before = page.evaluate(STATE, [widget, control])
    control.focus()
    page.keyboard.press(key)
    return page.evaluate(STATE, [widget, control]) != before


@pytest.mark.parametrize("name", WIDGETS)
def test_every_control_of_a_widget_answers_to_a_key(new_page, served_site, name):
    page = new_page()
    page.goto(served_site.url + WIDGETS[name])
    widget = page.wait_for_selector(f"capsnet-{name}.widget")
    if name == "digit":
        page.focus(f"capsnet-{name} button")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"capsnet-{name} canvas")
    kinds = set()
    # Buttons last: what they undo must have been done.
    for selector in ("input, select", "button"):
        for control in widget.query_selector_all(selector):
            kind = control.evaluate("(control) => control.disabled ? '' : control.type")
            if kind:
                kinds.add(kind)
                assert answers(page, widget, control, KEYS[kind])
    assert "range" in kinds


@pytest.mark.parametrize("name", WIDGETS)
def test_tab_goes_through_a_widget_in_order(new_page, served_site, name):
    page = new_page()
    page.goto(served_site.url + WIDGETS[name])
    page.wait_for_selector(f"capsnet-{name}.widget")
    stops = page.evaluate(
        """(name) => {
          const stops = [...document.querySelectorAll(`capsnet-${name} :is(input, select, button)`)]
            .filter(({ disabled, type, checked }) => !disabled && (type !== "radio" || checked));
          stops.forEach((control, place) => (control.dataset.place = place));
          return stops.length;
        }""",
        name,
    )
    page.focus(f"capsnet-{name} [data-place='0']")
    for place in range(1, stops):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.dataset.place") == str(place)
