"""Show source beside its notes: on a page for each module, and where a lesson says `annotate(…)`.

Rows become Markdown with a mark for each listing; the code comes in once Markdown has been read.
"""

import importlib.util
import re
from functools import cache
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

PACKAGE = Path(__file__).resolve().parent.parent / "capsnet_tutorial"
OUTPUT = re.compile(r'<table data-module="(\w+)" data-name="([\w.]*)">')
META = "---\nsearch: {boost: 0.001}\n---\n"  # lessons explain, and come first
BLOCK = '<div class="annotated" markdown="1">'
LISTING = re.compile(r'<div data-listing="(\w+) (\d+) ([\d ]*)"></div>')

Key = tuple[str, str]  # a module and a name in it


def _load_reader():
    """Return the package's reader of rows, from its file: the package itself needs PyTorch."""
    spec = importlib.util.spec_from_file_location("source_rows", PACKAGE / "source_rows.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.read_rows


read_rows = _load_reader()


def shown(output: dict) -> Key | None:
    """Return the module and the name that an output shows, if `annotate` made it."""
    match = OUTPUT.match("".join(output.get("data", {}).get("text/html", "")))
    return match and (match[1], match[2])


def for_lesson(module: str, name: str) -> str:
    """Return one definition as Markdown for a lesson, where it takes both columns."""
    rows = read_rows(PACKAGE / f"{module}.py", name)
    numbers = [number for row in rows for number in row.code]
    first = next(iter(rows[0].code.values()))
    indent = len(first) - len(first.lstrip())
    link = f"[`{module}.{name}`](../source/{module}.md#{name})"
    lines = f"{link}, lines {numbers[0]}–{numbers[-1]} of {module}.py"
    return "\n\n".join(
        [
            "</div>",  # the right column ends here, and begins anew below
            f'<div class="annotated" id="{module}.{name}" markdown="1">',
            *(_row(module, row, indent) for row in rows),
            _links([lines]),
            '</div>\n<div class="lesson-code" markdown="1">',
        ]
    )


def module_page(module: str, lessons: dict[Key, str]) -> str:
    """Return a module's page as Markdown.

    Args:
        module: the module.
        lessons: the lessons' links to what they show, by module and name.
    """
    head, *rows = read_rows(PACKAGE / f"{module}.py")
    taught = sorted({link.partition("#")[0] for key, link in lessons.items() if key[0] == module})
    links = _reference(module)
    links += [f"[lesson {_number(link)}]({link})" for link in taught]
    title = module.replace("_", r"\_")
    page = [META + f"# {title}.py", head.note, _links(links), '<div class="lesson" markdown="1">']
    page += [BLOCK, _row(module, head._replace(note=""))]
    for row in rows:
        if row.depth == 1:
            page += ["</div>", BLOCK]
        if row.depth:
            title = row.name.replace("_", r"\_")
            tag = f"h{1 + row.depth}"
            heading = f'<{tag} id="{row.name}" markdown="1">{title}</{tag}>'
            links = _reference(module, row.name)
            if link := lessons.get((module, row.name)):
                links.append(f"[lesson {_number(link)}]({link})")
            row = row._replace(note="\n\n".join([heading, _links(links), row.note]))
        page.append(_row(module, row, anchor="" if row.depth else row.name))
    return "\n\n".join([*page, "</div></div>"])


def link_from_reference(path: str) -> str:
    """Return a paragraph that leads from the reference to a module's or a definition's source.

    Args:
        path: such as `capsnet_tutorial.routing.dynamic_routing`.
    """
    _, module, name = [*path.split(".", 2), "", ""][:3]
    anchor = f"#{name}" if name in _names(module) else ""
    return f"\n\n[Annotated source](source/{module}.md{anchor})"


@cache
def _names(module: str) -> set[str]:
    """Return the names that a module's page has anchors for."""
    return {row.name for row in read_rows(PACKAGE / f"{module}.py") if row.name}


def _reference(*path: str) -> list[str]:
    """Return the link to the entry of a module or of a definition in it, unless that is private."""
    name = ".".join(path)
    private = any(part.startswith("_") for part in name.split("."))
    return [] if private else [f"[reference](../api.md#capsnet_tutorial.{name})"]


def _number(link: str) -> str:
    return link.rpartition("/")[2][:2]


def _links(links: list[str]) -> str:
    return f'<p class="annotated-links" data-search-exclude markdown="1">{" · ".join(links)}</p>'


def _row(module: str, row, indent: int = 0, anchor: str = "") -> str:
    """Return a row as Markdown, with a mark for its code, whose lines begin `indent` later."""
    attribute = f' id="{anchor}"' if anchor else ""
    numbers = " ".join(map(str, row.code))
    return (
        f'<div class="annotated-row"{attribute} markdown="1">\n'
        f'<div class="lesson-prose" markdown="1">\n\n{row.note}\n\n</div>\n'
        f'<div data-listing="{module} {indent} {numbers}"></div>\n</div>'
    )


def place_listings(html: str, own_page: str = "") -> str:
    """Put the code into a page; on its module's own page, every line is an anchor.

    Args:
        html: the page.
        own_page: the path of the page, such as `source/routing.md`.
    """

    def listing(match: re.Match) -> str:
        module, indent, numbers = match[1], int(match[2]), match[3].split()
        source = (PACKAGE / f"{module}.py").read_text(encoding="utf-8").splitlines()
        code = "\n".join(source[int(number) - 1][indent:] for number in numbers)
        highlighted = highlight(code, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
        home = own_page == f"source/{module}.md"
        lines = [
            _line(number, line, "" if home else f"../source/{module}.html")
            for number, line in zip(numbers, highlighted.splitlines(), strict=True)
        ]
        return f'<pre class="highlight annotated-code" data-search-exclude>{"".join(lines)}</pre>'

    return LISTING.sub(listing, html)


def _line(number: str, code: str, page: str) -> str:
    anchor = "" if page else f'id="L-{number}" '
    # A link for the mouse: as many stops of the tab key would be in everybody's way.
    label = f'data-line="{number}" aria-label="line {number}" tabindex="-1"'
    return f'<a {anchor}href="{page}#L-{number}" {label}></a>{code}\n'
