"""Read executed lessons, refuse unfit ones, and turn their outputs into HTML."""

import json
import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import annotated
from mkdocs.exceptions import PluginError
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

# From the richest form to the plainest.
KNOWN = ("image/svg+xml", "image/png", "text/html", "text/plain")
LEXER, FORMATTER = PythonLexer(stripnl=False), HtmlFormatter(wrapcode=True)
STYLE = re.compile(r"<style.*?</style>", re.DOTALL)


def read_cells(path: Path) -> list[dict]:
    """Return a lesson's cells.

    Raises:
        PluginError: if there is no title, a cell wasn't run or is neither prose nor code, or an
            output is unfit for a page.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    if not cells or not "".join(cells[0]["source"]).startswith("# "):
        raise PluginError(f"{path.name}: the first cell must start with the title, `# …`.")
    for number, cell in enumerate(cells):
        where = f"{path.name}, cell {number}"
        if cell["cell_type"] not in ("markdown", "code"):
            raise PluginError(f"{where} is neither prose nor code but {cell['cell_type']}.")
        if cell["cell_type"] != "code" or not "".join(cell["source"]).strip():
            continue
        if cell["execution_count"] is None:
            raise PluginError(f"{where} was not run: run `make lessons`.")
        for output in cell["outputs"]:
            if fault := _fault_of(output):
                raise PluginError(f"{where} {fault}")
    return cells


def _fault_of(output: dict) -> str | None:
    """Say why an output can't be shown, if so."""
    if output["output_type"] == "error":
        return f"ended in {output['ename']}: {output['evalue']}"
    if output.get("name") == "stderr":
        return f"wrote to stderr: {''.join(output['text'])}"
    data = output.get("data", {"text/plain": output.get("text", "")})
    if foreign := sorted(set(data) - set(KNOWN)):
        return f"has an output of a form that no page shows: {', '.join(foreign)}"
    if "\x1b" in "".join(data.get("text/plain", "")):
        return "prints terminal colours, which no page shows"
    html = "".join(data.get("text/html", ""))
    nesting = Nesting()
    nesting.feed(html)
    if nesting.script:
        return "has an output with a script in it"
    if nesting.open or nesting.broken:
        return "has an output whose HTML tags don't match"
    return None


class Nesting(HTMLParser):
    """Look whether the tags of some HTML match, and whether one of them runs a script."""

    VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "wbr"})
    FOREIGN = frozenset({"script", "iframe", "object", "embed"})

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.broken = self.script = False

    def handle_starttag(self, tag: str, attrs: list) -> None:
        """Note a tag that has to be closed, and one that runs a script."""
        runs = any(name.startswith("on") or "javascript:" in (text or "") for name, text in attrs)
        self.script |= runs or tag in self.FOREIGN
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the last open tag, which has to be this one."""
        if tag not in self.VOID and (not self.open or self.open.pop() != tag):
            self.broken = True


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
    """Return a cell as Markdown for the page; code and each of its outputs leave a mark."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        # So that Markdown inside is read on the site as it is in Jupyter.
        return source.replace("<details>", '<details markdown="1">')
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
