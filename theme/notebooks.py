"""Read executed lessons, refuse unfit ones, and turn their outputs into HTML."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

import annotated
from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

sys.path.append(str(Path(__file__).resolve().parent.parent / "tools"))
from fitness import alternative, refuse_unfit, richest
from twins import LessonError, edited, label

LOG = get_plugin_logger("lessons")
LEXER, FORMATTER = PythonLexer(stripnl=False), HtmlFormatter(wrapcode=True)
DETAILS = re.compile(r"^<details\b", re.MULTILINE)
STYLE = re.compile(r"<style.*?</style>", re.DOTALL)


def read_cells(path: Path) -> list[dict]:
    """Return a lesson's cells.

    Raises:
        PluginError: if a page can't show them; it names the lesson, the cell and the fault.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    with as_plugin_error():
        refuse_unfit(cells, path.name)
    return cells


@contextmanager
def as_plugin_error() -> Iterator[None]:
    """Turn what the tools say of a lesson into an error that mkdocs shows as a sentence."""
    try:
        yield
    except LessonError as error:
        raise PluginError(str(error)) from error


def check_lessons(folder: Path) -> None:
    """Refuse lessons that lack their notebook, notebooks that lack their lesson or are unfit.

    A lesson that was edited since is shown as it was, with a warning, which stops a strict build.

    Raises:
        PluginError: with the lesson and what is wrong.
    """
    scripts, notebooks = ({path.stem for path in folder.glob(kind)} for kind in ("*.py", "*.ipynb"))
    if alone := ", ".join(sorted(scripts ^ notebooks)):
        raise PluginError(f"Each lesson is a .py and an .ipynb; one is missing for: {alone}.")
    for notebook in sorted(folder.glob("*.ipynb")):
        read_cells(notebook)
        lesson = notebook.with_suffix(".py")
        with as_plugin_error():
            stale = edited(lesson)
        if stale:
            LOG.warning(f"{label(lesson)} was edited since it was executed: run `make lessons`.")


def markdown_of(cell: dict) -> str:
    """Return a cell as Markdown for the page; code and each of its outputs leave a mark."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        # So that Markdown inside is read on the site as it is in Jupyter.
        return DETAILS.sub('<details markdown="1"', source)
    marks = [f'<div data-output="{cell["id"]} {n}"></div>' for n in range(len(cell["outputs"]))]
    for number, output in enumerate(cell["outputs"]):
        if key := annotated.shown(output):
            marks[number] = annotated.for_lesson(*key)
    return "\n\n".join([f'<div data-code="{cell["id"]}"></div>', *marks])


def annotated_in(folder: Path) -> dict[tuple[str, str], str]:
    """Return links to what the lessons show by `annotate`, by module and name."""
    keys = {
        key: path.name
        for path in sorted(folder.glob("*.ipynb"))
        for cell in read_cells(path)
        for output in cell.get("outputs", [])
        if (key := annotated.shown(output))
    }
    return {key: f"../lessons/{name}#{'.'.join(key)}" for key, name in keys.items()}


def show_code(cell: dict) -> str:
    """Return a cell's code, highlighted; Markdown would take its tabs and its blank lines."""
    return highlight("".join(cell["source"]), LEXER, FORMATTER)


def show_output(output: dict, cell: dict) -> str:
    """Return one output as HTML in its richest form: drawing, picture, table or text."""
    if output["output_type"] == "stream":
        return _show_text("".join(output["text"]))
    kind = richest(output["data"])
    data = "".join(output["data"][kind])
    if kind == "text/plain":
        return _show_text(data)
    if kind == "text/html":
        # A style of the output's own would fix its colours for both schemes.
        return STYLE.sub("", data)
    alt = alternative(output, cell, kind)
    if kind == "image/svg+xml":
        return show_svg(data, alt, output["metadata"].get(kind, {}).get("widget"))
    source = data.replace("\n", "")
    return f'<img alt="{escape(alt)}" loading="lazy" src="data:image/png;base64,{source}">'


def show_svg(svg: str, alt: str, widget: str | None = None) -> str:
    """Return a drawing to put into a page, where it takes the page's colours.

    A widget is an element around it, whose script puts itself in the drawing's place.
    """
    figure = f'<figure role="img" aria-label="{escape(alt)}">{svg[svg.index("<svg") :]}</figure>'
    return f"<capsnet-{widget}>{figure}</capsnet-{widget}>" if widget else figure


def _show_text(text: str) -> str:
    # A browser drops the line break that a <pre> begins with.
    return f'<pre class="output-text">\n{escape(text)}</pre>'
