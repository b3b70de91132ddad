"""From a lesson's cells to its page: what is shown and how, and what is refused."""

import json
from pathlib import Path

import markdown
import notebooks
import pytest
from bs4 import BeautifulSoup
from mkdocs.exceptions import PluginError


def test_code_keeps_its_blank_lines_its_tabs_and_its_signs():
    source = "\n\nif a < b & c:\n\tprint('&amp;', `d`)\n"
    shown = BeautifulSoup(notebooks.show_code({"source": [source]}), "html.parser")
    assert shown.code.get_text() == source


def displayed(kind, content):
    return {"output_type": "display_data", "data": {kind: content}, "metadata": {}}


def lesson_of(folder: Path, *cells: dict) -> Path:
    """Write the notebook of a lesson that has these cells after its title."""
    path = folder / "07_odd.ipynb"
    title = {"cell_type": "markdown", "source": "# A"}
    path.write_text(json.dumps({"cells": [title, *cells], "metadata": {}}), encoding="utf-8")
    return path


def code_giving(output: dict, **metadata) -> dict:
    code = {"cell_type": "code", "source": "f()", "execution_count": 1}
    return code | {"outputs": [output], "metadata": metadata}


@pytest.mark.parametrize(
    ("output", "says"),
    [
        (displayed("text/html", "<script>1</script>"), "a script in it"),
        (displayed("text/html", "<b onclick='f()'>1</b>"), "a script in it"),
        (displayed("text/html", "<img/onerror=f()>"), "a script in it"),
        (displayed("text/html", "<iframe></iframe>"), "a script in it"),
        (displayed("text/html", "<div><b>1</div></b>"), "tags don't match"),
        (displayed("text/html", "<div>"), "tags don't match"),
        (displayed("text/html", "1</div>"), "tags don't match"),
        (displayed("application/vnd.widget", "{}"), "no page shows: application/vnd.widget"),
        (displayed("text/plain", "\x1b[31mred"), "terminal colours"),
        ({"output_type": "stream", "name": "stdout", "text": ["\x1b[1mbold"]}, "terminal colours"),
        ({"output_type": "stream", "name": "stderr", "text": ["careful"]}, "to stderr: careful"),
        (displayed("image/png", "AAAA"), "a picture without an alternative text"),
        ({"output_type": "display_data", "data": {}, "metadata": {}}, "of no form at all"),
    ],
)
def test_an_output_that_no_page_can_show_is_refused(tmp_path, output, says):
    path = lesson_of(tmp_path, code_giving(output))
    with pytest.raises(PluginError, match=rf"^07_odd.ipynb, cell 1 \(`f\(\)`\) .*{says}"):
        notebooks.read_cells(path)


def test_a_cell_that_was_not_run_is_refused(tmp_path):
    unrun = code_giving({}) | {"execution_count": None, "outputs": []}
    with pytest.raises(PluginError, match=r"cell 1 .* was not run: run `make lessons`"):
        notebooks.read_cells(lesson_of(tmp_path, unrun))


@pytest.mark.parametrize("alt", ["", " ", "\n"])
def test_a_blank_alternative_is_none(tmp_path, alt):
    picture = displayed("image/svg+xml", "<svg></svg>")
    spoken = picture | {"metadata": {"image/svg+xml": {"alt": alt}}}
    for cell in (code_giving(picture, alt=alt), code_giving(spoken)):
        with pytest.raises(PluginError, match=r"cell 1 .* a picture without an alternative text"):
            notebooks.read_cells(lesson_of(tmp_path, cell))
    notebooks.read_cells(lesson_of(tmp_path, code_giving(picture, alt="a 4")))


@pytest.mark.parametrize(
    ("prose", "says"),
    [
        ("Before\n\n</div>\n\nafter", "prose whose HTML tags don't match"),
        ("Before</div>after", "prose whose HTML tags don't match"),
        ("<details>\n<summary>A</summary>\n\nB", "prose whose HTML tags don't match"),
        ("<script>1</script>", "prose with a script in it"),
        ("See `</div>` there", "`</div>` in code"),
        ("See\n\n    </div>", "`</div>` in code"),
        ("```python\n1 + 1", "a code fence that nothing ends"),
        ("```", "a code fence that nothing ends"),
        ("> ```\n> 1\n\nafter", "a code fence that nothing ends"),
        ("~~~\n1\n```", "a code fence that nothing ends"),
    ],
)
def test_prose_that_would_break_its_page_is_refused(tmp_path, prose, says):
    path = lesson_of(tmp_path, {"cell_type": "markdown", "source": prose})
    with pytest.raises(PluginError, match=f"^07_odd.ipynb, cell 1 .*{says}"):
        notebooks.read_cells(path)


def test_harmless_html_and_a_title_are_let_through(tmp_path):
    fine = displayed("text/html", "<p>a<br>b <b>c</b></p><pre> one = on_mnist = 1</pre>")
    notebooks.read_cells(lesson_of(tmp_path, code_giving(fine)))
    prose = (
        "a<br>b `<b>` <kbd>c</kbd>\n\n<details>\n<summary>A</summary>\n\n```\n</div>\n```\n\n"
        "</details>\n\n<details open>\n<summary>B</summary>\n\n- ~~~~\n  ~~~\n  ~~~~\n\n</details>"
    )
    notebooks.read_cells(lesson_of(tmp_path, {"cell_type": "markdown", "source": prose}))
    raw = lesson_of(tmp_path, {"cell_type": "raw", "source": "x"})
    with pytest.raises(PluginError, match=r"cell 1 .* is neither prose nor code but raw"):
        notebooks.read_cells(raw)
    raw.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "A"}]}))
    with pytest.raises(
        PluginError, match=r"07_odd.ipynb: the first cell must start with the title"
    ):
        notebooks.read_cells(raw)


def test_a_lesson_that_is_not_utf8_is_refused_by_name(tmp_path):
    lesson_of(tmp_path).with_suffix(".py").write_bytes(b"\xe9")
    with pytest.raises(PluginError, match=r"07_odd.py isn't UTF-8"):
        notebooks.check_lessons(tmp_path)


@pytest.mark.parametrize("tag", ["<details>", "<details open>"])
def test_markdown_in_details_is_read(tag):
    prose = {
        "cell_type": "markdown",
        "source": f"{tag}\n<summary>A</summary>\n\n**B**\n\n</details>",
    }
    html = markdown.markdown(notebooks.markdown_of(prose), extensions=["md_in_html"])
    details = BeautifulSoup(html, "html.parser").details
    assert details.p.strong.get_text() == "B"
    assert details.has_attr("open") == ("open" in tag)


def test_a_picture_speaks_and_loads_when_it_comes_near():
    cell = code_giving(displayed("image/png", "AAAA"), alt='a "4"')
    shown = notebooks.show_output(cell["outputs"][0], cell)
    assert 'alt="a &quot;4&quot;"' in shown
    assert 'loading="lazy"' in shown


@pytest.mark.parametrize("text", ["one", "\n\n  one\n", "a < b\n"])
def test_a_text_keeps_its_lines(text):
    stream = {"output_type": "stream", "name": "stdout", "text": [text]}
    for output in (stream, displayed("text/plain", text)):
        shown = notebooks.show_output(output, code_giving(output))
        # A browser drops the line break that a <pre> begins with, and this parser doesn't.
        assert BeautifulSoup(shown, "html.parser").pre.get_text() == "\n" + text
