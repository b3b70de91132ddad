"""The files that the site brings beside its pages: styles, scripts and fonts."""

import re
from collections.abc import Iterator
from pathlib import Path

import formulas
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

THEME = Path(__file__).resolve().parent
OWN = ("tutorial.css", "symbols.js", "scrolling.js", "icon.svg")
FONTS = (
    "source-serif-4/files/source-serif-4-latin-wght-normal.woff2",
    "source-serif-4/files/source-serif-4-latin-wght-italic.woff2",
    "jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2",
)


def of_site(config) -> Iterator[File]:
    """Yield the files, each under its address on the site."""
    # Only woff2: every browser that shows the page reads it.
    css = (formulas.KATEX / "katex.min.css").read_text(encoding="utf-8")
    css = re.sub(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)', "", css)
    yield File.generated(config, "assets/katex/katex.css", content=css)
    sources = {f"katex/fonts/{font.name}": font for font in formulas.KATEX.glob("fonts/*.woff2")}
    sources |= {f"fonts/{Path(name).name}": fontsource(name) for name in FONTS}
    sources |= {name: THEME / name for name in OWN}
    sources |= {f"widgets/{path.name}": path for path in (THEME / "widgets").iterdir()}
    for name, source in sources.items():
        yield File.generated(config, f"assets/{name}", abs_src_path=str(source))


def fontsource(name: str) -> Path:
    """Return the path of a font that npm installed.

    Raises:
        PluginError: if it isn't there.
    """
    path = THEME / "node_modules/@fontsource-variable" / name
    if not path.is_file():
        raise PluginError(f"The font {Path(name).name} isn't installed: {formulas.INSTALL}.")
    return path
