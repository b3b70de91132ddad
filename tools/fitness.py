"""Say what in a lesson's cells no page can show; the site and `tools/lessons.py` both ask here."""

from collections.abc import Iterator
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token
from twins import LessonError

# From the richest form to the plainest.
KNOWN = ("image/svg+xml", "image/png", "text/html", "text/plain")


def refuse_unfit(cells: list[dict], name: str) -> None:
    """Look whether a page can show the cells of an executed lesson.

    Raises:
        LessonError: naming the lesson, the cell and the fault: there is no title, a cell wasn't
            run or is neither prose nor code, or prose or an output is unfit for a page.
    """
    if not cells or not "".join(cells[0]["source"]).startswith("# "):
        raise LessonError(f"{name}: the first cell must start with the title, `# …`.")
    for number, cell in enumerate(cells):
        source = "".join(cell["source"]).strip()
        if fault := _fault_of(cell, source):
            raise LessonError(f"{name}, cell {number} (`{source.partition('\n')[0]}`) {fault}")


def alternative(output: dict, cell: dict, kind: str) -> str:
    """Return the text that stands for a picture: the output's own, or its cell's; or nothing."""
    own = output["metadata"].get(kind, {}).get("alt")
    return (own or cell.get("metadata", {}).get("alt") or "").strip()


def richest(data: dict) -> str:
    """Return the form in which a page shows an output."""
    return next(kind for kind in KNOWN if kind in data)


def _fault_of(cell: dict, source: str) -> str | None:
    """Say why a cell can't be shown, if so."""
    if cell["cell_type"] == "markdown":
        return _fault_of_prose(source)
    if cell["cell_type"] != "code":
        return f"is neither prose nor code but {cell['cell_type']}."
    if not source:
        return None
    if cell["execution_count"] is None:
        return "was not run: run `make lessons`."
    return next(filter(None, (_fault_of_output(output, cell) for output in cell["outputs"])), None)


def _fault_of_prose(source: str) -> str | None:
    """Say why the site's Markdown, which is not quite Jupyter's, would spoil the page, if so."""
    tokens, lines = list(_flat(MarkdownIt().parse(source))), source.splitlines()
    for token in tokens:
        if token.type == "fence":
            # One that nothing ends goes on to the end of the cell, or of its quote or list.
            first, end = token.map
            if end - first < 2 or lines[end - 1].strip("> \t") != token.markup:
                return "has a code fence that nothing ends"
        elif token.type.startswith("code_") and "</div>" in token.content:
            return "has `</div>` in code that is not in a fence: there it would end the page's row"
    html = [token.content for token in tokens if token.type.startswith("html_")]
    return _fault_of_html("".join(html), "prose")


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or [])


def _fault_of_output(output: dict, cell: dict) -> str | None:
    if output["output_type"] == "error":
        return f"failed: {output['ename']}: {output['evalue']}"
    if output.get("name") == "stderr":
        return f"wrote to stderr: {''.join(output['text']).strip()}"
    data = output.get("data", {"text/plain": output.get("text", "")})
    if foreign := sorted(set(data) - set(KNOWN)):
        return f"has an output of a form that no page shows: {', '.join(foreign)}"
    if not data:
        return "has an output of no form at all"
    if "\x1b" in "".join(data.get("text/plain", "")):
        return "prints terminal colours, which no page shows"
    kind = richest(data)
    if kind.startswith("image/") and not alternative(output, cell, kind):
        return "has a picture without an alternative text"
    return _fault_of_html("".join(data.get("text/html", "")), "an output")


def _fault_of_html(html: str, where: str) -> str | None:
    nesting = Nesting()
    nesting.feed(html)
    if nesting.script:
        return f"has {where} with a script in it"
    if nesting.open or nesting.broken:
        return f"has {where} whose HTML tags don't match"
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
