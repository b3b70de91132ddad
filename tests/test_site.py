"""The built site: what a reader gets."""

import ast
import json
import re
import textwrap
from collections import Counter
from copy import copy
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urljoin, urlsplit

import links
import modules
import pytest
import symbols
from bs4 import BeautifulSoup
from sites import ROOT, Site

pytestmark = pytest.mark.slow

LESSONS = sorted((ROOT / "lessons").glob("*.ipynb"))
TEX = re.compile(r"\\[a-zA-Z]+|\\[()\[\]]|\$\$|\$[^$\n]+\$")
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)


@pytest.fixture(scope="session")
def site(served_site) -> Path:
    return served_site.folder


@pytest.fixture(scope="session")
def pages(site) -> dict[str, BeautifulSoup]:
    """Return the parsed pages by their path in the site."""
    found = {path.relative_to(site).as_posix(): parse(path) for path in site.rglob("*.html")}
    assert {"index.html", "paper.html", "api.html"} <= set(found)
    return found


@pytest.fixture(scope="session")
def ids(pages) -> dict[str, set[str]]:
    """Return the anchors of each page."""
    return {path: {part["id"] for part in page.find_all(id=True)} for path, page in pages.items()}


def parse(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def prose(page: BeautifulSoup) -> str:
    """Return a page's text without listings and outputs."""
    article = copy(page.article)
    for part in article.select("pre, code, .lesson-output, figure"):
        part.decompose()
    return article.get_text(" ")


@each_lesson
def test_lesson_page_holds_every_output_of_its_notebook(site, lesson):
    page = parse(site / "lessons" / f"{lesson.stem}.html")
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    shown = page.select(".lesson-output, .annotated")
    assert len(shown) == len(outputs) > 0
    for output, element in zip(outputs, shown, strict=True):
        kinds = output.get("data", {})
        if "annotated" in element["class"]:
            table = BeautifulSoup("".join(kinds["text/html"]), "html.parser")
            cells = [code.get_text() for code in table.select("td:last-child pre")]
            code = "\n".join(code.get_text().rstrip("\n") for code in element.find_all("pre"))
            assert code == textwrap.dedent("\n".join(cells))
        elif "image/svg+xml" in kinds:
            assert element.svg
        elif "image/png" in kinds:
            assert element.img
        elif "text/html" not in kinds:
            text = "".join(output["text"] if "text" in output else kinds["text/plain"])
            assert element.get_text().strip("\n") == text.strip("\n")


@each_lesson
def test_lesson_page_holds_every_code_cell_as_it_is(site, lesson):
    page = parse(site / "lessons" / f"{lesson.stem}.html")
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    listings = [code.get_text() for code in page.select(".lesson-code > .highlight code")]
    assert [text.strip() for text in listings] == [source.strip() for source in sources]


@each_lesson
def test_lesson_offers_its_notebook_and_its_script(site, lesson):
    page = parse(site / "lessons" / f"{lesson.stem}.html")
    targets = [link["href"] for link in page.select(".lesson-files a[download]")]
    assert targets == [lesson.name, f"{lesson.stem}.py"]
    for name in targets:
        assert (site / "lessons" / name).read_bytes() == (lesson.parent / name).read_bytes()


@each_lesson
def test_lesson_page_is_light(site, lesson):
    page = parse(site / "lessons" / f"{lesson.stem}.html")
    for picture in page.select(".lesson-output svg, .lesson-output img"):
        picture.decompose()
    assert len(str(page).encode()) < 250_000


def test_no_raw_latex_and_no_raw_admonition(pages):
    for path, page in pages.items():
        if page.article:
            assert not TEX.findall(prose(page)), path
            assert "!!!" not in page.article.get_text(), path


def test_formulas_speak_and_keep_no_tex(pages):
    formulas = [formula for page in pages.values() for formula in page.select(".formula")]
    assert len(formulas) > 20
    assert all(formula.math for formula in formulas)
    assert not any(page.select("annotation, .arithmatex, .katex-error") for page in pages.values())


def test_one_title_and_unique_ids(pages):
    for path, page in pages.items():
        assert len(page.find_all("h1")) == 1, path
        twice = [i for i, n in Counter(e["id"] for e in page.find_all(id=True)).items() if n > 1]
        assert not twice, path


def test_navigation_shows_each_page_by_its_title(pages):
    for path, page in pages.items():
        if path in ("404.html", "index.html"):
            continue
        title = page.h1.find(string=True).strip()
        entries = [link.get_text(strip=True) for link in pages["index.html"].select("nav a")]
        assert title in entries, path
        assert page.select("a.md-footer__link--prev"), path


def check_links(site: Site, pages: dict[str, BeautifulSoup], ids: dict[str, set[str]]) -> None:
    """Look whether every link of some pages leads to a file, and to a part of it that is there."""
    for path, page in pages.items():
        for element in page.select("a[href], link[href], script[src], img[src]"):
            value = element.get("href", element.get("src"))
            target = urlsplit(urljoin(site.address + path, value))
            if not target.geturl().startswith(site.address):
                continue
            relative = unquote(target.path).removeprefix(urlsplit(site.address).path)
            relative = relative or "index.html"
            assert (site.folder / relative).is_file(), (path, value)
            if target.fragment and relative in ids:
                assert unquote(target.fragment) in ids[relative], (path, value)


def test_internal_links_and_fragments_lead_somewhere(served_site, pages, ids):
    check_links(served_site, pages, ids)


def test_links_lead_somewhere_in_a_folder_of_a_host(published_site, ids):
    names = ["index.html", "404.html", f"lessons/{LESSONS[0].stem}.html", "source/index.html"]
    check_links(published_site, {name: parse(published_site.folder / name) for name in names}, ids)


def test_a_folder_of_a_host_has_the_same_pages_but_for_its_address(served_site, published_site):
    def texts(site):
        for path in site.folder.rglob("*.html"):
            text = path.read_text(encoding="utf-8").replace(site.address, "@")
            # The page of lost links names them from the host on.
            yield path.relative_to(site.folder), text.replace(urlsplit(site.address).path, "@")

    served, published = dict(texts(served_site)), dict(texts(published_site))
    assert served.keys() == published.keys()
    assert not [path for path in served if served[path] != published[path]]


def test_nothing_comes_from_another_host(served_site, site, pages):
    for path, page in pages.items():
        loaded = page.select("script[src], img[src], iframe[src], source[src], use[href]")
        loaded += [
            link
            for link in page.select("link[href]")
            if not {"canonical", "prev", "next"} & set(link["rel"])
        ]
        for element in loaded:
            value = element.get("src", element.get("href"))
            host = urlsplit(value).netloc
            assert host in ("", urlsplit(served_site.address).netloc), (path, value)
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        for target in re.findall(r"url\([\"']?([^)\"']+)", text):
            if not target.startswith(("data:", "#")):
                assert (style.parent / urlsplit(target).path).is_file(), (style.name, target)


def test_every_picture_has_an_alternative(pages):
    for path, page in pages.items():
        assert all(image.get("alt") for image in page.find_all("img")), path
        for svg in page.select("article svg"):
            if svg.find_parent(class_="formula") or svg.find_parent(class_="md-content__button"):
                continue
            figure = svg.find_parent("figure", role="img")
            assert figure, path
            assert figure["aria-label"].strip(), path


def test_widgets_hold_a_picture_for_where_no_script_runs(pages):
    found = {
        (path, element.name): element
        for path, page in pages.items()
        for element in page.find_all(re.compile("^capsnet-"))
    }
    assert set(found) == {
        ("index.html", "capsnet-routing"),
        ("lessons/01_squashing.html", "capsnet-squash"),
        ("lessons/02_routing.html", "capsnet-routing"),
        ("lessons/03_margin.html", "capsnet-margin"),
        ("lessons/04_reconstruction.html", "capsnet-digit"),
    }
    for element in found.values():
        assert element.find("figure", role="img").svg
        # A browser closes a paragraph before a figure, and the widget with it.
        assert not element.find_parent("p")


def test_search_leads_to_sections(site, pages, ids):
    entries = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    for entry in entries:
        path, _, fragment = entry["location"].partition("#")
        assert not fragment or fragment in ids[path or "index.html"], entry["location"]
        assert not re.search(r"[¶#<>\\$]", entry["title"]), entry["title"]
        text = re.sub(r"<code>.*?</code>", "", entry["text"], flags=re.DOTALL)
        assert not TEX.findall(text), entry["location"]
        assert "¶" not in text
        assert set(re.findall(r"</?(\w+)", text)) <= {"p", "li", "ul", "ol", "sub", "sup"}
        assert "<pre>" not in entry["text"], entry["location"]
        assert "Source code in" not in text
    everything = " ".join(entry["text"] for entry in entries)
    for page in pages.values():
        hidden = page.select(".formula .katex-html, .output-text")
        texts = {element.get_text().strip() for element in hidden}
        assert not [text for text in texts if len(text) > 5 and text in everything]


@each_lesson
def test_search_finds_every_heading_of_a_lesson(site, lesson):
    entries = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    page = parse(site / "lessons" / f"{lesson.stem}.html")
    locations = {entry["location"] for entry in entries}
    for heading in page.article.select("h2[id], h3[id]"):
        assert f"lessons/{lesson.stem}.html#{heading['id']}" in locations


def test_the_reference_holds_every_public_module(pages):
    shown = {heading["id"] for heading in pages["api.html"].select("h2[id]")}
    modules = {path.stem for path in (ROOT / "capsnet_tutorial").glob("[!_]*.py")}
    assert shown == {f"capsnet_tutorial.{module}" for module in modules}


PACKAGE = ROOT / "capsnet_tutorial"
FOLD = ".md-nav__item--nested .md-nav__item--nested"


def source_pages(pages) -> dict[str, BeautifulSoup]:
    return {module: pages[f"source/{module}.html"] for module in modules.MODULES}


def test_every_module_is_in_one_group_of_the_annotated_source():
    assert sorted(modules.MODULES) == sorted(path.stem for path in PACKAGE.glob("*.py"))


def test_the_first_page_of_the_annotated_source_says_what_each_module_is_for(pages):
    overview = pages["source/index.html"]
    assert [title.find(string=True) for title in overview.select("h2")] == list(modules.GROUPS)
    targets = [link["href"] for link in overview.select("dt a")]
    assert targets == [f"{module}.html" for module in modules.MODULES]
    for module, purpose in zip(modules.MODULES, overview.select("dd"), strict=True):
        docstring = ast.get_docstring(ast.parse((PACKAGE / f"{module}.py").read_bytes()))
        assert purpose.get_text() == docstring.partition("\n\n")[0].replace("`", "")


def test_the_navigation_folds_all_but_the_first_group_of_the_annotated_source(pages):
    _, *others = modules.GROUPS
    folds = pages["index.html"].select(FOLD)
    assert [fold.label.get_text(strip=True) for fold in folds] == others
    folded = [link["href"] for fold in folds for link in fold.select("a")]
    assert folded == [f"source/{module}.html" for name in others for module in modules.GROUPS[name]]
    here = pages[f"source/{modules.GROUPS[others[0]][0]}.html"]
    expanded = [fold.nav["aria-expanded"] for fold in here.select(FOLD)]
    assert expanded == ["true"] + ["false"] * (len(others) - 1)


def test_one_reads_on_from_the_lessons_through_the_annotated_source(pages):
    order = [f"lessons/{LESSONS[-1].stem}.html", "source/index.html"]
    order += [f"source/{module}.html" for module in modules.MODULES]
    for path, following in pairwise(order):
        link = pages[path].select_one("a.md-footer__link--next")
        assert urljoin(path, link["href"]) == following


def test_annotated_source_holds_every_line_of_code_once_and_in_order(pages, ids):
    for module, page in source_pages(pages).items():
        lines = (PACKAGE / f"{module}.py").read_text(encoding="utf-8").splitlines()
        numbers = [int(link["data-line"]) for link in page.select(".annotated-code a")]
        code = "".join(pre.get_text() for pre in page.select(".annotated-code"))
        assert code.splitlines() == [lines[number - 1] for number in numbers]
        assert numbers == sorted(set(numbers))
        assert {f"L-{number}" for number in numbers} <= ids[f"source/{module}.html"]


def test_annotated_source_reference_and_lessons_lead_to_one_another(pages):
    def targets(part):
        return {link["href"] for link in part.select("a[href]")}

    source = pages["source/squashing.html"]
    row = source.find(id="squash").find_parent(class_="annotated-row")
    assert targets(row) >= {
        "../api.html#capsnet_tutorial.squashing.squash",
        "../lessons/01_squashing.html#squashing.squash",
    }
    api = pages["api.html"]
    entry = api.find(id="capsnet_tutorial.squashing.squash").find_parent(class_="doc-object")
    assert "source/squashing.html#squash" in targets(entry)
    lesson = pages["lessons/01_squashing.html"]
    assert "../source/squashing.html#squash" in targets(lesson.find(id="squashing.squash"))


def test_each_module_and_its_entry_in_the_reference_lead_to_one_another(pages):
    for module, page in source_pages(pages).items():
        entry = pages["api.html"].find(id=f"capsnet_tutorial.{module}")
        back = page.select_one(f'a[href="../api.html#capsnet_tutorial.{module}"]')
        assert bool(entry) == bool(back) == (not module.startswith("_"))
        if entry:
            described = entry.find_parent(class_="doc-object")
            assert described.select(f'a[href="source/{module}.html"]')


def test_a_definition_links_to_its_entry_if_the_reference_has_one(pages):
    entries = {element["id"] for element in pages["api.html"].select("[id]")}
    for module, page in source_pages(pages).items():
        for heading in page.select(".annotated h2[id], .annotated h3[id]"):
            name = f"capsnet_tutorial.{module}.{heading['id']}"
            row = heading.find_parent(class_="annotated-row")
            assert bool(row.select(f'a[href="../api.html#{name}"]')) == (name in entries), name


def test_a_link_to_a_module_leads_to_its_annotated_source():
    lesson = SimpleNamespace(src_uri="lessons/01_squashing.ipynb")
    text = "[`plotting_decades`](../capsnet_tutorial/plotting_decades.py)"
    shown = "[`plotting_decades`](../source/plotting_decades.md)"
    assert links.map_links(text, lesson) == shown


def test_a_named_step_is_an_anchor(pages):
    step = pages["source/routing.html"].find(id="_route.agreement")
    assert step.strong.get_text() == "Agreement:"
    assert "v_j" in step.pre.get_text()


def test_search_finds_definitions_and_no_listing(site, pages):
    entries = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    found = {entry["location"]: entry["text"] for entry in entries}
    assert "parents that they agree on" in found["source/routing.html#dynamic_routing"]
    text = " ".join(found.values())
    assert "u_hat.new_zeros" in pages["source/routing.html"].get_text()
    assert "u_hat.new_zeros" not in text


def test_symbols_have_buttons_on_every_page_and_leak_nowhere(site, pages):
    for path, page in pages.items():
        marked = {mark["data-symbol"] for mark in page.select("[data-symbol]")}
        buttons = [button["value"] for button in page.select(".symbols button")]
        assert sorted(marked) == sorted(buttons), path
        assert not page.select("math [data-symbol]"), path
    assert pages["lessons/02_routing.html"].select(".katex-html [data-symbol=c_ij]")
    assert not pages["source/plotting_capsnet.html"].select("[data-symbol=weight]")  # bold, there
    index = (site / "search/search_index.json").read_text(encoding="utf-8")
    assert "data-symbol" not in index
    assert "htmlData" not in index + "".join(map(str, pages.values()))


def test_the_page_of_symbols_holds_the_whole_table(pages):
    rows = pages["symbols.html"].table.select("tbody tr")
    assert [row.strong.get_text() for row in rows] == [symbol.name for symbol in symbols.SYMBOLS]


def test_a_page_of_many_names_begins_with_all_of_them(pages):
    many = []
    for path, page in pages.items():
        names = [f"#{heading['id']}" for heading in page.select("h2[id]")]
        expected = names if len(names) > links.MANY and not path.startswith("lessons/") else []
        assert [link["href"] for link in page.select(".contents a")] == expected
        many += [path] * bool(expected)
    assert "api.html" in many


def test_doctests_are_code_in_the_reference(pages):
    page = pages["api.html"]
    assert len(page.select(".highlight .gp")) > 20
    assert ">>>" not in prose(page)
