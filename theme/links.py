"""The links of a page: those of the repository made the site's, to its files, to its parts."""

import posixpath
import re
from html import escape
from pathlib import Path
from urllib.parse import unquote

from markdown.extensions.toc import slugify

LINK = re.compile(r"\]\(([\w./-]*/[\w.-]+|[\w-]+\.ipynb|)(#[^)\s]+)?\)")
# So many names no longer fit beside a page.
MANY = 12


def is_lesson(file) -> bool:
    """Return whether a page is a lesson."""
    return file.src_uri.endswith(".ipynb")


def map_links(markdown: str, file) -> str:
    """Turn links that work in the repository, and in Jupyter, into those that work on the site."""
    here = file.src_uri if is_lesson(file) else f"docs/{file.src_uri}"

    def to_site(match):
        path, fragment = match[1], match[2] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), path)) if path else here
        if target.endswith(".ipynb"):
            # Jupyter's anchors are the headings' words, the site's are slugs.
            fragment = fragment and "#" + slugify(unquote(fragment[1:]), "-")
        elif target.startswith("capsnet_tutorial/"):
            target, fragment = f"docs/source/{Path(target).stem}.md", ""
        if not path:
            return f"]({fragment})"
        folder = posixpath.dirname(file.src_uri) or "."
        return f"]({posixpath.relpath(target.removeprefix('docs/'), folder)}{fragment})"

    return LINK.sub(to_site, markdown)


def downloads(path: Path) -> str:
    """Return the links to a lesson's notebook and script."""
    return (
        '<p class="lesson-files" data-search-exclude>Run it yourself: '
        f'<a href="{path.name}" download>notebook</a> or '
        f'<a href="{path.stem}.py" download>script</a></p>'
    )


def contents(toc) -> str:
    """Return links to the sections of a page, if they are too many to be seen beside it."""
    sections = [section for title in toc for section in title.children]
    if len(sections) <= MANY:
        return ""
    entries = "\n".join(f'<a href="{one.url}">{escape(one.title)}</a>' for one in sections)
    return f'<nav class="contents" aria-label="On this page" data-search-exclude>{entries}</nav>'
