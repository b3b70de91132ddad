"""The lessons' pictures: drawn from values computed elsewhere, each with a text alternative.

A picture is drawn for three readers. The site puts its SVG into the page, where text and axes take
the page's own colour, so it reads on a light and on a dark ground. Jupyter shows the SVG of a
notebook that it trusts, and GitHub the PNG. All of them get the same text alternative.
"""

import base64
import hashlib
import io
import math
import re
from collections.abc import Sequence
from typing import Any

import matplotlib
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

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

LIFT = (math.nan, math.nan)
FOUR = [(0.12, 0.7), (-0.45, -0.2), (0.5, -0.2), LIFT, (0.2, 0.25), (0.2, -0.7)]
"""The pen's way through a 4, around its centre."""


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
def capsule_picture() -> Picture:
    """Draw what a capsule is: three fours, and the arrow that each becomes."""
    figure = Figure(figsize=(WIDTH, 3.3))
    axes = _plane(figure, (-1.2, 6.4), (-2.0, 3.0))
    cases = [(0, 0.92, "surely a 4"), (32, 0.92, "surely a 4,\nleaning"), (-20, 0.3, "hardly a 4")]
    for column, (lean, length, caption) in enumerate(cases):
        centre, turn = 2.6 * column, math.radians(lean)
        # The strokes of a 4, turned clockwise; the less sure the capsule, the fainter they are.
        x = [centre + a * math.cos(turn) + b * math.sin(turn) for a, b in FOUR]
        y = [2.1 - a * math.sin(turn) + b * math.cos(turn) for a, b in FOUR]
        axes.plot(x, y, color=INK, lw=6, alpha=length, solid_capstyle="round")
        _circle(axes, centre)
        tip = (centre + length * math.sin(turn), length * math.cos(turn))
        _arrow(axes, (centre, 0), tip, BLUE)
        axes.text(centre, -1.25, caption, ha="center", va="top")
    return Picture(
        figure,
        "capsule",
        alt="Three handwritten fours above three arrows, each in a circle of radius 1. An upright "
        "four: a long arrow, straight up. A four that leans to the right: an arrow as long, turned "
        "to the right as far. A faint four: a short arrow.",
    )


@drawn
def before_and_after(before: Float[Tensor, "k 2"], after: Float[Tensor, "k 2"]) -> Picture:
    """Draw vectors of the plane dashed before squashing and solid after it.

    Args:
        before: vectors as they come.
        after: the same vectors, squashed.

    Returns:
        The picture; its text names the lengths.
    """
    figure = Figure(figsize=(WIDTH, 3.4))
    (left, _), (right, high) = before.amin(0).tolist(), before.amax(0).tolist()
    axes = _plane(figure, (min(-1.1, left - 1), max(1.1, right + 1)), (-1.35, max(1.1, high + 0.2)))
    _circle(axes)
    axes.text(0, -1.08, "length 1", ha="center", va="top")
    for s, v in zip(before.tolist(), after.tolist(), strict=True):
        axes.plot([0, s[0]], [0, s[1]], color=ORANGE, lw=1.6, ls="--")
        axes.plot(*s, "o", color=ORANGE, fillstyle="none", ms=6)
        _arrow(axes, (0, 0), v, BLUE)
        side, offset = ("left", 7) if s[0] > 0 else ("right", -7)
        label = f"{math.hypot(*s):.1f} → {math.hypot(*v):.2f}"
        axes.annotate(label, s, (offset, 0), textcoords="offset points", ha=side, va="center")
    pairs = zip(before.norm(dim=-1).tolist(), after.norm(dim=-1).tolist(), strict=True)
    changes = ", ".join(f"{s:.1f} becomes {v:.2f}" for s, v in pairs)
    return Picture(
        figure,
        "before-and-after",
        alt="Vectors from the centre of a circle of radius 1: dashed lines before squashing, solid "
        f"arrows after it, in the same directions. Their lengths: {changes}.",
    )


@drawn
def squash_curve(
    lengths_before: Float[Tensor, " k"],
    lengths_after: Float[Tensor, " k"],
    slopes: Float[Tensor, " k"],
) -> Picture:
    """Draw the length after squashing, and its slope, over the length before.

    Args:
        lengths_before: ascending lengths.
        lengths_after: the lengths that they are squashed to.
        slopes: the slope of the curve at each of them.

    Returns:
        The picture; its text names the end of the curve and the steepest place.
    """
    before, after, slope = (x.tolist() for x in (lengths_before, lengths_after, slopes))
    top = max(slope)
    steepest = before[slope.index(top)]
    figure = Figure(figsize=(WIDTH, 3.3), layout="constrained")
    axes = figure.subplots()
    axes.axhline(1, color=INK, lw=0.8, ls=":")
    axes.plot(before, after, color=BLUE)
    axes.plot(before, slope, color=ORANGE, ls="--")
    axes.plot(steepest, top, "o", color=ORANGE)
    axes.text(steepest, top + 0.04, f"steepest\nat {steepest:.2f}", ha="center", va="bottom")
    axes.text(before[-1], after[-1] - 0.06, "length after", ha="right", va="top")
    axes.text(before[-1], slope[-1] + 0.03, "its slope", ha="right", va="bottom")
    axes.set(xlabel="length before", xlim=(0, before[-1]), ylim=(0, 1.08), yticks=[0, 0.5, 1])
    return Picture(
        figure,
        "squash-curve",
        alt=f"Two curves over the length before squashing, from {before[0]:.0f} to "
        f"{before[-1]:.0f}. The length after rises from {after[0]:.2f} to {after[-1]:.2f} and "
        f"stays below a dotted line at 1. Its slope, dashed, rises to {top:.2f} at {steepest:.2f} and "
        f"falls to {slope[-1]:.2f}.",
    )


def _plane(figure: Figure, xlim: tuple[float, float], ylim: tuple[float, float]) -> Axes:
    """Return axes that fill the figure, with equal units and nothing drawn."""
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=xlim, ylim=ylim, aspect="equal")
    axes.set_axis_off()
    return axes


def _circle(axes: Axes, x: float = 0.0) -> None:
    """Draw the circle of length 1 around (x, 0)."""
    angles = [math.tau * k / 120 for k in range(121)]
    points = [[x + math.cos(a) for a in angles], [math.sin(a) for a in angles]]
    axes.plot(*points, color=INK, lw=0.8, ls=":")
    axes.plot(x, 0, "o", color=INK, ms=3)


def _arrow(axes: Axes, tail: Sequence[float], tip: Sequence[float], color: str) -> None:
    """Draw an arrow whose point is exactly at its tip."""
    style = {"arrowstyle": "-|>", "mutation_scale": 16, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tip, tail, arrowprops=style | {"color": color, "lw": 2.6})


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
