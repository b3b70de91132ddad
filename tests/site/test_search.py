"""Search leads to what explains a thing, in words that can be read."""

import re

import pytest

pytestmark = pytest.mark.slow

FOUND = """() => [...document.querySelectorAll(".md-search-result__item")]
  .map((item) => [...item.querySelectorAll("a.md-search-result__link")]
    .map((link) => [link.href, link.innerText]))"""


@pytest.mark.parametrize(
    ("words", "leads_to"),
    [
        ("squash", "lessons/01_squashing.html"),
        ("coupling", "lessons/02_routing.html#by-hand-couplings"),
        ("margin loss", "lessons/03_margin.html"),
        ("reconstruction", "lessons/04_reconstruction.html"),
        ("primary capsules", "lessons/05_capsnet.html#primary-capsules"),
    ],
)
def test_search_leads_to_the_section_first(new_page, served_site, words, leads_to):
    page = new_page()
    page.goto(served_site.url)
    page.keyboard.press("/")
    page.keyboard.type(words)
    page.wait_for_selector(".md-search-result__item mark")
    results = page.evaluate(FOUND)
    links = [re.sub(r"\?h=[^#]*", "", link) for item in results[:1] for link, _ in item[:2]]
    assert any(link.startswith(served_site.url + leads_to) for link in links), links
    for item in results[:5]:
        for _, text in item:
            assert not re.search(r"[¶$\\<>]|def |import |tensor\(", text), text
