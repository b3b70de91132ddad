"""The table of symbols against the lessons, and the marks that light up together."""

import re
from pathlib import Path

import formulas
import pytest
import symbols
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "lessons").glob("*.py"))
SOURCES = sorted((ROOT / "capsnet_tutorial").glob("*.py"))
KEYS = {symbol.key for symbol in symbols.SYMBOLS}


def formulas_of(path: Path) -> list[str]:
    text = re.sub(r"^# ?", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [
        formula.strip("$") for formula in re.findall(r"\$\$.*?\$\$|\$[^$\n]+\$", text, re.DOTALL)
    ]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_every_letter_of_a_lesson_s_formulas_is_in_the_table(lesson):
    on_page = symbols.of_page(lesson.name)
    for formula in formulas_of(lesson):
        assert not symbols.mark_formula(formula, on_page)[2], formula


def marked_in(lesson: Path) -> set[str]:
    """Return the symbols of a lesson's formulas."""
    on_page = symbols.of_page(lesson.name)
    return {key for f in formulas_of(lesson) for key in symbols.mark_formula(f, on_page)[1]}


@pytest.mark.parametrize("symbol", symbols.SYMBOLS, ids=lambda symbol: symbol.key)
def test_a_symbol_is_used_where_it_enters_and_not_before(symbol):
    lesson = ROOT / f"lessons/{symbol.lesson}.py"
    # The lesson shows code of the module that it has its name from.
    module = ROOT / f"capsnet_tutorial/{symbol.lesson[3:]}.py"
    words = set(re.findall(r"\w+", lesson.read_text("utf-8") + module.read_text("utf-8")))
    assert symbol.key in marked_in(lesson) or set(symbol.code) & words
    assert not any(symbol.key in marked_in(path) for path in LESSONS if path < lesson)


def test_names_are_unique_and_no_page_reads_a_letter_in_two_ways():
    assert len(KEYS) == len(symbols.SYMBOLS)
    for path in (*LESSONS, *SOURCES):
        forms = [form for symbol in symbols.of_page(path.name) for form in symbol.tex]
        assert len(forms) == len(set(forms)), path.name


def test_every_name_in_code_occurs_in_package_or_lessons():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (*LESSONS, *SOURCES))
    words = set(re.findall(r"\w+", text))
    assert {name for symbol in symbols.SYMBOLS for name in [*symbol.code, *symbol.loose]} <= words


def test_a_symbol_is_marked_whole_and_words_are_not():
    on_page = symbols.of_page("02_routing")
    marked, used, unknown = symbols.mark_formula(r"\sum_i c_{ij}\, \text{if } q", on_page)
    assert marked == (
        r"\sum_{\htmlData{symbol=i}{i}} {\htmlData{symbol=c_ij}{c_{ij}}}\, \text{if } q"
    )
    assert used == {"i": "i", "c_ij": "c_{ij}"}
    assert unknown == {"q"}


def test_the_longest_form_wins():
    _, used, _ = symbols.mark_formula(
        r"\hat{u}_{j|i} = W_{ij}\, u_i", symbols.of_page("02_routing")
    )
    assert list(used) == ["u_hat", "weight", "u"]


def test_a_symbol_is_found_after_a_line_break_and_not_in_a_longer_command():
    eta = symbols.SYMBOLS[0]._replace(key="eta", tex=[r"\eta"])
    assert symbols.mark_formula(r"\etal \\\eta", [eta])[0] == (
        r"\etal \\{\htmlData{symbol=eta}{\eta}}"
    )
    assert list(symbols.mark_formula(r"\\j", symbols.of_page("01"))[1]) == ["j"]


PAGE = (
    '<h1>i</h1><p><span class="arithmatex">\\(i &lt; c_{ij}\\)</span> and <code>c_ij</code></p>'
    '<pre><span class="n">c_ij</span> <span class="n">i</span> <span class="n">other</span></pre>'
)


@pytest.fixture
def page():
    marked = symbols.mark_page(PAGE, "lessons/02_routing.ipynb", "../")
    return BeautifulSoup(formulas.render({"page": marked})["page"], "html.parser")


def test_a_page_s_symbols_are_marked_in_formulas_and_code(page):
    assert page.p.find_next("code")["data-symbol"] == "c_ij"
    marks = page.select(".formula [data-symbol]")
    assert [mark["data-symbol"] for mark in marks] == ["i", "c_ij"]
    assert [span.get("data-symbol") for span in page.select("pre span")] == ["c_ij", "i", None]


def test_marks_change_no_text_and_no_mathml(page):
    assert page.pre.get_text() == "c_ij i other"
    assert not page.select("math [data-symbol], annotation")
    assert "htmlData" not in str(page)
    assert not page.select(".formula [tabindex], .formula a, .formula button")


def test_the_legend_has_a_button_for_each_symbol_and_speaks(page):
    legend = page.select_one("h1 + aside.symbols[data-search-exclude]")
    assert {button["value"] for button in legend.find_all("button")} == {"i", "c_ij"}
    for button in legend.find_all("button"):
        assert button["aria-pressed"] == "false"
        assert button.math
        assert button["data-meaning"]
        assert button["data-shape"]
    assert legend.select_one("p[role=status]").get_text() == ""


MADE_UP = symbols.Symbol(
    key="k",
    name="made up",
    tex=["K", "a|b"],
    code=["kay"],
    shape="b j m",
    meaning='"less" <',
    lesson="02_routing",
    loose=("k",),
)


def test_a_button_says_all_of_its_symbol():
    shown = symbols.legend([(MADE_UP, "K_2"), (MADE_UP._replace(code=[]), "K")], "../")
    legend = BeautifulSoup(shown, "html.parser").aside
    assert legend["aria-label"] == "Symbols on this page"
    assert legend.a["href"] == "../symbols.html"
    first, second = legend.find_all("button")
    assert first.attrs == {
        "type": "button",
        "value": "k",
        "aria-pressed": "false",
        "data-symbol": "k",
        "data-code": "kay",
        "data-shape": "b j m",
        "data-meaning": 'made up: "less" <',
    }
    assert [span.get_text() for span in first.find_all("span")] == [r"\(K_2\)", "made up"]
    assert second["data-code"] == "k"


def test_the_table_says_all_of_a_symbol(monkeypatch):
    number = MADE_UP._replace(tex=["a|b", "K"], shape="a number", code=[], lesson="03_margin")
    monkeypatch.setattr(symbols, "SYMBOLS", [MADE_UP, number])
    said = '**made up**: "less" < | [lesson'
    assert symbols.table().splitlines()[2:] == [
        f"| $K$ | `kay`, `k` | `b j m` | {said} 2](lessons/02_routing.ipynb) |",
        rf"| $a\vert b$ | `k` | a number | {said} 3](lessons/03_margin.ipynb) |",
    ]


def legend_of(html):
    marked = BeautifulSoup(symbols.mark_page(html, "02_routing", ""), "html.parser")
    [legend] = marked.select("aside.symbols")
    spans = [button.find("span").get_text() for button in legend.find_all("button")]
    return legend, spans


def test_the_legend_has_the_table_s_order_and_each_symbol_as_it_is_first_written():
    first = r'<span class="arithmatex">\(i v_k v_j\)</span>'
    html = rf"<h1>x</h1>{first}{first.replace('v_k ', '')}<code>v_j</code><code>u_hat</code>"
    assert legend_of(html)[1] == [r"\(v_k\)", r"\(\hat{u}_{j|i}\)", r"\(i\)"]


def test_the_legend_stands_once_below_the_title_and_its_downloads():
    downloads = '<p class="lesson-files">notebook\nscript</p>'
    legend, _ = legend_of(f"<h1>x</h1>\n{downloads}<code>c_ij</code><h1>y</h1>")
    assert legend.find_previous_sibling()["class"] == ["lesson-files"]


def test_marking_changes_nothing_but_the_marks():
    marked = symbols.mark_page(PAGE, "lessons/02_routing.ipynb", "../")
    assert '<code data-symbol="c_ij">c_ij</code></p>' in marked
    assert r"{i}} &lt; {\htmlData" in marked


def test_a_letter_in_code_counts_only_beside_its_formula():
    code = '<h1>x</h1><pre><span class="n">i</span> <span class="n">u_hat</span></pre>'
    marked = BeautifulSoup(symbols.mark_page(code, "page.md", ""), "html.parser")
    assert [mark["data-symbol"] for mark in marked.select("pre [data-symbol]")] == ["u_hat"]


def test_a_page_without_symbols_stays_as_it_is():
    assert (
        symbols.mark_page("<h1>x</h1><code>y</code>", "page.md", "") == "<h1>x</h1><code>y</code>"
    )
