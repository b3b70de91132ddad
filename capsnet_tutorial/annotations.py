"""Show a function, a class or a module in a lesson: its notes left, the lines they mean right."""

import inspect
import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

from capsnet_tutorial.source_rows import Row, read_rows


class AnnotatedSource(NamedTuple):
    """The rows of one function, class or module; Jupyter shows them as a table."""

    module: str
    name: str
    rows: list[Row]

    def __repr__(self) -> str:
        return f"annotated source of {self.module}.{self.name}".removesuffix(".")

    def _repr_html_(self) -> str:
        """Return a table that reads well without styles and scripts, too.

        The site makes rows of its own from the module and the name that are written into it.
        """
        # JupyterLab keeps these styles in a notebook that isn't trusted.
        style = 'style="text-align: left; vertical-align: top"'
        cell = f"<td {style}>"
        pre = f'{cell}<pre style="white-space: pre">'
        table = [f'<table data-module="{self.module}" data-name="{self.name}">']
        heads = ("notes", "line", f"{self.module}.py")
        table += [f"<tr>{''.join(f'<th {style}>{head}</th>' for head in heads)}</tr>"]
        for row in self.rows:
            numbers = "\n".join(map(str, row.code))
            code = escape("\n".join(row.code.values()), quote=False)
            table += [f"<tr>{cell}{note_html(row.note)}</td>"]
            table += [f"{pre}{numbers}</pre></td>{pre}{code}</pre></td></tr>"]
        return "\n".join([*table, "</table>"])


def annotate(obj: object) -> AnnotatedSource:
    """Show a function, class or module of this package beside its own notes.

    Args:
        obj: the function, class or module itself.

    Returns:
        Rows of notes and code, which Jupyter and the site show as two columns.

    Raises:
        TypeError: if `obj` isn't a function, class or module of this package.

    >>> from capsnet_tutorial import squash
    >>> annotate(squash)
    annotated source of squashing.squash
    """
    package = __name__.rpartition(".")[0]
    if inspect.ismodule(obj):
        home, name = obj.__name__, ""
    else:
        home, name = getattr(obj, "__module__", None) or "", getattr(obj, "__qualname__", None)
    if name is None or not home.startswith(f"{package}."):
        raise TypeError(f"annotate shows functions, classes and modules of {package}, got {obj!r}")
    path = Path(sys.modules[home].__file__)
    return AnnotatedSource(path.stem, name, read_rows(path, name))


def note_html(note: str) -> str:
    """Return a note as HTML; formulas stay as they are, and Jupyter sets them.

    >>> note_html("**Half:** of `x`.")
    '<p><b>Half:</b> of <code>x</code>.</p>'
    """
    text = escape(note, quote=False)
    for mark, tag in (("**", "b"), ("`", "code")):
        # Every other part stands between two marks.
        parts = text.split(mark)
        parts[1::2] = [f"<{tag}>{part}</{tag}>" for part in parts[1::2]]
        text = "".join(parts)
    return "".join(f"<p>{paragraph}</p>" for paragraph in filter(None, text.split("\n\n")))
