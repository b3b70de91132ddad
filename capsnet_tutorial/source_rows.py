"""Read source code as rows: a docstring or a comment, and the lines that it speaks of.

Nothing is imported but the standard library, so that the site can use this file without PyTorch.
"""

import ast
import inspect
import io
import tokenize
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

FOR_TOOLS = ("noqa", "type:", "fmt:", "ruff:", "mypy:", "pragma:", "pylint:", "isort:", "!")
"""How a comment begins that no reader needs; it stays in the code."""

FOR_REFERENCE = ("Args:", "Returns:", "Yields:", "Raises:", "Source:", "Differs", ">>>")
"""How a docstring's paragraph begins that belongs to the reference; it is left out."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Row(NamedTuple):
    """A note, as Markdown, beside the lines of code that it speaks of."""

    name: str  # of the definition that begins here, or of a step in one; or empty
    depth: int  # 1 where a function or class begins, 2 for a method, otherwise 0
    note: str
    code: dict[int, str]  # lines by their number in the file


def read_rows(path: Path, name: str = "") -> list[Row]:
    """Read a module's file, or one definition in it, as rows.

    A docstring is the note of its definition, up to the first comment in it. A comment on lines of
    its own is the note of what follows: up to the next comment, an empty line, or a line further to
    the left. If it begins with up to three words and a colon, these name the row.

    Args:
        path: the module's file.
        name: a function, class or method, such as `squash` or `DigitCaps.predict`; all of the
            module if empty.

    Returns:
        The rows, in the file's order.

    Raises:
        ValueError: if the file doesn't define `name`.
    """
    source = path.read_text(encoding="utf-8")
    node = ast.parse(source)
    for part in filter(None, name.split(".")):
        found = [child for child in _definitions(node) if child.name == part]
        if not found:
            raise ValueError(f"{path.name} defines no {name}")
        node = found[-1]
    lines = dict(enumerate(source.splitlines(), 1))
    if name:
        lines = {n: line for n, line in lines.items() if _first(node) <= n <= node.end_lineno}
    return _deal_out(lines, _Notes(source, node, name))


def prose(docstring: str) -> str:
    r"""Return a docstring's paragraphs without those that belong to the reference.

    >>> prose("Halve a number.\n\nArgs:\n    x: it.\n\nRounds down.")
    'Halve a number.\n\nRounds down.'
    """
    paragraphs, skipped = [], False
    for paragraph in inspect.cleandoc(docstring).split("\n\n"):
        # What is indented goes on with the paragraph before.
        goes_on = paragraph.startswith(" ")
        skipped = paragraph.startswith(FOR_REFERENCE) or (skipped and goes_on)
        if not skipped:
            paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


class _Notes:
    """Where rows begin in a module or a definition, and which lines are notes."""

    def __init__(self, source: str, node: ast.AST, name: str):
        self.rows: dict[int, Row] = {}  # by the line that they begin with
        self.hidden: set[int] = set()  # lines of docstrings and comments
        self.owners: dict[int, str] = {}  # each line's innermost function or class
        self._read(node, name)
        self.columns, comments = _columns_and_comments(source)
        for (line, *others), text in comments.items():
            owner, (step, note) = self.owners.get(line), _step(text)
            self.rows[line] = Row(f"{owner}.{step}" if owner and step else "", 0, note, {})
            self.hidden |= {line, *others}

    def _read(self, node: ast.Module | Definition, name: str) -> None:
        """Note the docstrings of a module or a definition, and of what is in it."""
        first = _first(node)
        if name:
            self.owners |= dict.fromkeys(range(first, node.end_lineno + 1), name)
        row = Row(name, 1 + name.count(".") if name else 0, "", {})
        if ast.get_docstring(node):
            self._take(node.body[0], row, first)
        elif name:
            self.rows[first] = row
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        prefix = f"{name}." if name else ""
        for child in _definitions(node):
            self._read(child, prefix + child.name)
        for constant, text in pairwise(node.body):
            # A string below a constant is the constant's docstring.
            if isinstance(constant, ast.Assign | ast.AnnAssign) and isinstance(text, ast.Expr):
                [target] = getattr(constant, "targets", None) or [constant.target]
                named = Row(prefix + ast.unparse(target), 0, "", {})
                self._take(text, named, constant.lineno)

    def _take(self, docstring: ast.Expr, row: Row, line: int) -> None:
        self.rows[line] = row._replace(note=prose(docstring.value.value))
        self.hidden |= set(range(docstring.lineno, docstring.end_lineno + 1))


def _definitions(node: ast.Module | ast.ClassDef) -> list[Definition]:
    return [child for child in node.body if isinstance(child, Definition)]


def _first(node: ast.Module | Definition) -> int:
    """Return the line on which a module or a definition begins, its decorators included."""
    if isinstance(node, ast.Module):
        return 1
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _step(comment: str) -> tuple[str, str]:
    """Return the name that a comment gives to its row, or nothing; and its text as a note."""
    words, colon, text = comment.partition(": ")
    if not colon or len(words.split()) > 3:
        return "", comment
    return "-".join(words.lower().split()), f"**{words}:** {text}"


def _columns_and_comments(source: str) -> tuple[dict[int, int], dict[tuple[int, ...], str]]:
    """Return where each line begins, and the comments that have lines of their own, by their lines.

    A line that only goes on with a statement has no column.
    """
    columns, blocks, begins = {}, [], True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line, column = token.start
        text = token.string[1:].strip()
        if token.type == tokenize.NEWLINE:
            begins = True
        elif token.type == tokenize.COMMENT and not token.line[:column].strip():
            if not text.startswith(FOR_TOOLS):
                columns[line] = column
                if not blocks or line - 1 not in blocks[-1]:
                    blocks.append({})
                blocks[-1][line] = text
        elif begins and token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            columns[line], begins = column, False
    return columns, {tuple(block): "\n".join(block.values()) for block in blocks}


def _deal_out(lines: dict[int, str], notes: _Notes) -> list[Row]:
    """Give each line of code to the note that speaks of it."""
    rows, column, ended = [], 0, True
    for number, line in lines.items():
        if number in notes.rows:
            rows.append(notes.rows[number])
            # The note of a comment ends with the comment's block.
            column, ended = notes.columns[number] if number in notes.hidden else 0, False
        if number in notes.hidden:
            continue
        if not line.strip():
            ended = bool(rows[-1].code and rows[-1].note and not rows[-1].depth)
            continue
        if ended or notes.columns.get(number, column) < column:
            rows.append(Row("", 0, "", {}))
            column, ended = 0, False
        rows[-1].code[number] = line
    return rows
