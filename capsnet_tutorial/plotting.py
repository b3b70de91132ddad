"""The lessons' pictures, drawn from values computed elsewhere."""

import math
from collections.abc import Sequence

from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_tutorial.pictures import BLUE, INK, ORANGE, WIDTH, Picture, drawn

LIFT = (math.nan, math.nan)
FOUR = [(0.12, 0.7), (-0.45, -0.2), (0.5, -0.2), LIFT, (0.2, 0.25), (0.2, -0.7)]
"""The pen's way through a 4, around its centre."""


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
        f"stays below a dotted line at 1. Its slope, dashed, rises to {top:.2f} at {steepest:.2f} "
        f"and falls to {slope[-1]:.2f}.",
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


def _arrow(axes: Axes, tail: Sequence[float | int], tip: Sequence[float], color: str) -> None:
    """Draw an arrow whose point is exactly at its tip."""
    style = {"arrowstyle": "-|>", "mutation_scale": 16, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tip, tail, arrowprops=style | {"color": color, "lw": 2.6})
