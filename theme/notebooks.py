"""Read executed lessons, refuse unfit ones, and turn their outputs into HTML."""

import json
import re
from html import escape
from pathlib import Path

import annotated
from mkdocs.exceptions import PluginError

# From the richest form to the plainest.
KNOWN = ("image/svg+xml", "image/png", "text/html", "text/plain")
STYLE = re.compile(r"<style.*?</style>", re.DOTALL)


def read_cells(path: Path) -> list[dict]:
    """Return a lesson's cells.

    Raises:
        PluginError: if a cell wasn't run, crashed, or wrote to stderr, or there is no title.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    if not cells or not "".join(cells[0]["source"]).startswith("# "):
        raise PluginError(f"{path.name}: the first cell must start with the title, `# …`.")
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code" or not "".join(cell["source"]).strip():
            continue
        where = f"{path.name}, cell {number}"
        if cell["execution_count"] is None:
            raise PluginError(f"{where} was not run: run `make lessons`.")
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                raise PluginError(f"{where} ended in {output['ename']}: {output['evalue']}")
            if output.get("name") == "stderr":
                raise PluginError(f"{where} wrote to stderr: {''.join(output['text'])}")
    return cells


def check_lessons(folder: Path) -> None:
    """Refuse lessons that lack their notebook, notebooks that lack their lesson or are unfit.

    Raises:
        PluginError: with the lesson and what is wrong.
    """
    scripts, notebooks = ({path.stem for path in folder.glob(kind)} for kind in ("*.py", "*.ipynb"))
    if alone := ", ".join(sorted(scripts ^ notebooks)):
        raise PluginError(f"Each lesson is a .py and an .ipynb; one is missing for: {alone}.")
    for notebook in folder.glob("*.ipynb"):
        read_cells(notebook)


def markdown_of(cell: dict) -> str:
    """Return a cell as Markdown for the page; each of its outputs leaves a mark."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        # So that Markdown inside is read on the site as it is in Jupyter.
        return source.replace("<details>", '<details markdown="1">')
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", source)), default=0))
    marks = [f'<div data-output="{cell["id"]} {n}"></div>' for n in range(len(cell["outputs"]))]
    for number, output in enumerate(cell["outputs"]):
        if key := annotated.shown(output):
            marks[number] = annotated.for_lesson(*key)
    return "\n\n".join([f"{fence} python\n{source}\n{fence}", *marks])


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


def show_output(output: dict, cell: dict, where: str) -> str:
    """Return one output as HTML in its richest form: drawing, picture, table or text.

    Raises:
        PluginError: if a picture has no alternative text, or the output no form known here.
    """
    if output["output_type"] == "stream":
        return _show_text("".join(output["text"]))
    data = {kind: "".join(value) for kind, value in output["data"].items() if kind in KNOWN}
    kind = next((kind for kind in KNOWN if kind in data), None)
    if kind is None:
        raise PluginError(f"{where}: an output has none of the forms {', '.join(KNOWN)}.")
    if kind == "text/plain":
        return _show_text(data[kind])
    if kind == "text/html":
        # A style of the output's own would fix its colours for both schemes.
        return STYLE.sub("", data[kind])
    alt = output["metadata"].get(kind, {}).get("alt") or cell["metadata"].get("alt")
    if not alt:
        raise PluginError(f"{where}: a picture has no alternative text.")
    if kind == "image/svg+xml":
        return show_svg(data[kind], alt, output["metadata"].get(kind, {}).get("widget"))
    source = data[kind].replace("\n", "")
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{source}">'


def show_svg(svg: str, alt: str, widget: str | None = None) -> str:
    """Return a drawing to put into a page, where it takes the page's colours.

    A widget is an element around it, whose script puts itself in the drawing's place.
    """
    figure = f'<figure role="img" aria-label="{escape(alt)}">{svg[svg.index("<svg") :]}</figure>'
    return f"<capsnet-{widget}>{figure}</capsnet-{widget}>" if widget else figure


def _show_text(text: str) -> str:
    return f'<pre class="output-text">{escape(text)}</pre>'
