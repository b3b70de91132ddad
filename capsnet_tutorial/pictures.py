"""What a picture in a lesson is: a drawing for any page, with a text alternative.

A picture is drawn for three readers. The site puts its SVG into the page, where text and axes take
the page's own colour, so it reads on a light and on a dark ground. Jupyter shows the SVG of a
notebook that it trusts, and GitHub the PNG. All of them get the same text alternative.
"""

import base64
import hashlib
import io
import re
from typing import Any

import matplotlib
from matplotlib.figure import Figure

# Each has a contrast of 4 to 1 or more on white and on the site's dark ground.
BLUE = "#2e7fc2"
ORANGE = "#c4621d"
PURPLE = "#a65fc0"
INK = "#1d2733"
"""Text, axes and whatever is neither: `currentColor` in the SVG."""

STYLE = {
    **{f"{part}.color": INK for part in ("text", "xtick", "ytick")},
    **{f"axes.{part}": INK for part in ("edgecolor", "labelcolor", "titlecolor")},
    **{f"axes.spines.{side}": False for side in ("top", "right")},
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 12,
    "lines.linewidth": 2.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "capsnet-tutorial",
}
"""What `@drawn` sets: read on a phone, labels of 12 points at a width of 5 inches still hold."""

drawn = matplotlib.rc_context(STYLE)
"""Decorator of each function that draws a `Picture`."""

WIDTH = 5.0
"""A picture's width in inches."""


class Picture:
    """A drawing as SVG and PNG, with the text that stands for it.

    Args:
        figure: the drawing. Use `BLUE`, `ORANGE`, `PURPLE` and `INK` only.
        name: a short name; it starts the ids in the SVG.
        alt: what the drawing shows, in a sentence or two.

    Raises:
        ValueError: if `alt` is empty.

    >>> Picture(Figure(), "empty", alt="An empty sheet.")
    An empty sheet.
    """

    def __init__(self, figure: Figure, name: str, alt: str):
        if not alt.strip():
            raise ValueError(f"the picture {name!r} needs an alt text: say what it shows")
        self.alt = alt
        self.svg = _adaptive_svg(_render(figure, "svg").decode(), name)
        self.png = _render(figure, "png")

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict, dict]:
        """Give Jupyter every form, with the text alternative in the metadata of each image."""
        png = base64.b64encode(self.png).decode()
        images = {"image/svg+xml": self.svg, "image/png": png}
        metadata = {kind: {"alt": self.alt, "needs_background": "light"} for kind in images}
        return images | {"text/plain": self.alt}, metadata


@drawn
def _render(figure: Figure, kind: str) -> bytes:
    """Return the figure's bytes, which depend on nothing but the figure."""
    buffer = io.BytesIO()
    if kind == "svg":
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    else:
        figure.savefig(
            buffer, format="png", dpi=144, facecolor="white", metadata={"Software": None}
        )
    return buffer.getvalue()


def _adaptive_svg(svg: str, name: str) -> str:
    """Make an SVG fit into any page: its colours, its font, ids of its own, no page-wide style."""
    svg = svg[svg.index("<svg") :]
    svg = svg.replace(INK, "currentColor").replace("'DejaVu Sans', sans-serif", "sans-serif")
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("<svg ", '<svg style="stroke-linejoin: round" ', 1)
    # Keep only the ids that something refers to, and make them differ from every other picture's.
    unique = f"{name}-{hashlib.sha256(svg.encode()).hexdigest()[:8]}-"
    used = set(re.findall(r"#([\w.-]+)\"|url\(#([\w.-]+)\)", svg))
    used = {a or b for a, b in used}
    svg = re.sub(r' id="([^"]+)"', lambda m: f' id="{unique}{m[1]}"' if m[1] in used else "", svg)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{unique}", svg)
