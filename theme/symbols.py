"""Mark the symbols of a page in formulas and code, and give the page a legend of them."""

import re
import tomllib
from html import escape, unescape
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import formulas

# What holds words and no symbols, a command, a letter, or anything else.
TOKEN = re.compile(
    r"\\(?:text|operatorname|mathrm|begin|end)\{[^}]*\}|\\[a-zA-Z]+|\\.|.", re.DOTALL
)
CODE = re.compile(r'<(span class="n"|code)>(\w+)</(?:span|code)>')
TITLE = re.compile(r'</h1>(\s*<p class="lesson-files".*?</p>)?', re.DOTALL)
TABLE = "<!-- table of symbols -->"


class Symbol(NamedTuple):
    """A row of symbols.toml, where each field is explained."""

    key: str
    name: str
    tex: list[str]
    code: list[str]
    shape: str
    meaning: str
    lesson: str
    loose: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()  # everywhere


SYMBOLS = [
    Symbol(**row)
    for row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["symbol"]
]


def of_page(path: str) -> list[Symbol]:
    """Return the symbols that may stand on a page, given by its path."""
    stem = PurePosixPath(path).stem
    return [symbol for symbol in SYMBOLS if not symbol.pages or stem in symbol.pages]


def mark_formula(tex: str, symbols: list[Symbol]) -> tuple[str, dict[str, str], set[str]]:
    """Wrap each symbol of a formula in a mark that KaTeX turns into a `data-symbol`.

    Returns:
        The formula; how each symbol is written there first, by its key; and the letters that are
        no symbol.
    """
    forms = {form: symbol.key for symbol in symbols for form in symbol.tex}
    longest = sorted(forms, key=len, reverse=True)
    marked, used, unknown, place = [], {}, set(), 0
    while place < len(tex):
        token = TOKEN.match(tex, place)[0]
        form = next((form for form in longest if tex.startswith(form, place)), token)
        # A form that is part of a longer command, such as \eta in \etal, is none.
        if form in forms and (len(token) <= len(form)):
            used.setdefault(forms[form], form)
            marked.append(rf"{{\htmlData{{symbol={forms[form]}}}{{{form}}}}}")
            place += len(form)
            continue
        if token.isalpha():
            unknown.add(token)
        marked.append(token)
        place += len(token)
    return "".join(marked), used, unknown


def mark_page(html: str, path: str, root: str) -> str:
    """Mark a page's symbols, and put their legend under its title.

    Args:
        html: the page, its formulas not yet rendered.
        path: the page's source path.
        root: the way from the page to the site's root, such as `../`.
    """
    symbols, used = of_page(path), {}

    def formula(match: re.Match) -> str:
        tex, found, _ = mark_formula(unescape(match[3]), symbols)
        used.update(found | used)
        begin, end = match.start(3) - match.start(), match.end(3) - match.start()
        return match[0][:begin] + escape(tex, quote=False) + match[0][end:]

    html = formulas.FORMULA.sub(formula, html)
    names = {
        name: symbol
        for symbol in symbols
        for name in [*symbol.code, *(symbol.loose if symbol.key in used else ())]
    }

    def code(match: re.Match) -> str:
        if match[2] not in names:
            return match[0]
        symbol = names[match[2]]
        used.setdefault(symbol.key, symbol.tex[0])
        return match[0].replace(match[1], f'{match[1]} data-symbol="{symbol.key}"', 1)

    html = CODE.sub(code, html)
    shown = [(symbol, used[symbol.key]) for symbol in symbols if symbol.key in used]
    return TITLE.sub(lambda title: title[0] + legend(shown, root), html, count=1) if shown else html


def legend(shown: list[tuple[Symbol, str]], root: str) -> str:
    """Return a page's legend: a button for each symbol, and a place for what it means."""
    buttons = "".join(
        f'<button type="button" value="{symbol.key}" aria-pressed="false"'
        f' data-symbol="{symbol.key}" data-code="{"".join([*symbol.code, *symbol.loose][:1])}"'
        f' data-shape="{symbol.shape}" data-meaning="{symbol.name}: {escape(symbol.meaning)}">'
        f'<span class="arithmatex">\\({form}\\)</span>'
        f'<span class="spoken">{symbol.name}</span></button>\n'
        for symbol, form in shown
    )
    return (
        '\n<aside class="symbols" aria-label="Symbols on this page" data-search-exclude>\n'
        f'{buttons}<a href="{root}symbols.html">symbols</a>\n<p role="status"></p></aside>'
    )


def table() -> str:
    """Return all symbols as a Markdown table, with the lesson where each enters."""
    lines = ["| Symbol | In code | Shape | Meaning | Enters in |", "|---|---|---|---|---|"]
    for symbol in SYMBOLS:
        tex = symbol.tex[0].replace("|", r"\vert ")
        code = ", ".join(f"`{name}`" for name in [*symbol.code, *symbol.loose])
        axes = all(len(letter) == 1 for letter in symbol.shape.split())
        shape = f"`{symbol.shape}`" if axes else symbol.shape
        meaning = f"**{symbol.name}**: {symbol.meaning}"
        link = f"[lesson {symbol.lesson[1]}](lessons/{symbol.lesson}.ipynb)"
        lines.append(f"| ${tex}$ | {code} | {shape} | {meaning} | {link} |")
    return "\n".join(lines)
