"""The pictures of the lesson on the whole network, drawn from values computed there."""

import math

from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from torch import Tensor

from capsnet_tutorial.pictures import BLUE, INK, ORANGE, WIDTH, Picture, drawn

STEPS = (
    "convolution 9×9, ReLU",
    "convolution 9×9, group, squash",
    "matrices W, routing",
    "keep one, decode",
)
"""What leads from each tensor of `architecture` to the next."""


@drawn
def architecture(shapes: dict[str, tuple[int, ...]]) -> Picture:
    """Draw the network from top to bottom: each tensor, its shape, and the step to the next one.

    Args:
        shapes: the shapes for one image, in order: the image, features, primary capsules, digit
            capsules and the image drawn from them, by the names to write beside them.

    Returns:
        The picture; its text lists the shapes.
    """
    height = 5.6
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(0, height), aspect="equal")
    axes.set_axis_off()
    written = ["×".join(map(str, shape)) for shape in shapes.values()]
    drawings = [_block, _block, _capsules, _capsules, _block]
    for row, (name, shape) in enumerate(shapes.items()):
        y = height - 0.52 - 1.14 * row
        drawings[row](axes, y, shape)
        axes.text(1.75, y, f"{name}  {written[row]}", weight="bold", va="center")
        if row < len(STEPS):
            down = {"arrowstyle": "->", "color": INK, "lw": 1.2}
            axes.annotate("", (0.85, y - 0.73), (0.85, y - 0.43), arrowprops=down)
            axes.text(1.75, y - 0.57, STEPS[row], va="center")
    chain = "; ".join(
        f"{step}: {name}, {shape}"
        for step, name, shape in zip(STEPS, list(shapes)[1:], written[1:], strict=True)
    )
    return Picture(
        figure,
        "architecture",
        alt=f"The network from top to bottom. It starts with {next(iter(shapes))}, {written[0]}. "
        f"Then {chain}.",
    )


def _block(axes: Axes, y: float, shape: tuple[int, ...]) -> None:
    """Draw an image or features as a block: its face is the image, its depth the channels."""
    channels, rows, columns = shape
    height, width = 0.022 * rows, 0.022 * columns
    depth = 0.06 * math.log2(channels)
    left, low = 0.85 - (width + depth) / 2, y - (height + depth / 3) / 2
    right, high = left + width, low + height
    back = (depth, depth / 3)
    top = [(left, high), (right, high), (right + back[0], high + back[1])]
    top += [(left + back[0], high + back[1])]
    side = [(right, low), (right, high), (right + back[0], high + back[1])]
    side += [(right + back[0], low + back[1])]
    for corners in (top, side):
        axes.add_patch(Polygon(corners, facecolor=BLUE, alpha=0.25, edgecolor="none"))
        axes.add_patch(Polygon(corners, facecolor="none", edgecolor=BLUE, lw=1))
    axes.add_patch(Rectangle((left, low), width, height, facecolor=BLUE, alpha=0.5))
    axes.add_patch(Rectangle((left, low), width, height, fill=False, edgecolor=BLUE, lw=1))


def _capsules(axes: Axes, y: float, shape: tuple[int, ...]) -> None:
    """Draw capsules as arrows: short ones in rows where they are many, long ones else."""
    count = shape[0]
    rows, columns, size = (4, 12, 0.1) if count > 40 else (1, min(count, 12), 0.34)
    style = {"arrowstyle": "-|>", "mutation_scale": 20 * size + 2, "shrinkA": 0, "shrinkB": 0}
    for k in range(rows * columns):
        row, column = divmod(k, columns)
        x, low = 0.17 + 1.36 * (column + 0.5) / columns, y + 0.15 * (row - (rows - 1) / 2)
        angle = 2.4 * k
        dx, dy = size / 2 * math.cos(angle), size / 2 * math.sin(angle)
        arrow = style | {"color": ORANGE, "lw": 0.8 + 3 * size}
        axes.annotate("", (x + dx, low + dy), (x - dx, low - dy), arrowprops=arrow)


@drawn
def capsule_cover(
    capsules: dict[str, Int[Tensor, "n 3"]], channels: int, grid: tuple[int, int]
) -> Picture:
    """Draw which numbers of a convolution's output one capsule takes, in several ways.

    Args:
        capsules: channel, row and column of each of a capsule's numbers, by the way's name.
        channels: how many of the channels to draw, from the first one on.
        grid: rows and columns of a channel.

    Returns:
        The picture; its text lists the places.
    """
    rows, columns = grid
    across, down = channels * (columns + 1) - 1, rows + 6
    height = WIDTH * len(capsules) * down / (across + 1)
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.5, across + 0.5), ylim=(len(capsules) * down, 0), aspect="equal")
    axes.set_axis_off()
    for way, (name, places) in enumerate(capsules.items()):
        top = way * down + 2.8
        axes.text(0, top - 0.8, name, weight="bold")
        for channel, row, column in places.tolist():
            corner = (channel * (columns + 1) + column, top + row)
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=ORANGE))
        for left in range(0, across, columns + 1):
            bottom, right = top + rows, left + columns
            axes.vlines(range(left, right + 1), top, bottom, color=INK, lw=0.5)
            axes.hlines([top + row for row in range(rows + 1)], left, right, color=INK, lw=0.5)
            axes.text(
                left + columns / 2, bottom + 0.5, left // (columns + 1), ha="center", va="top"
            )
    lists = "; ".join(
        f"{name}: " + ", ".join(f"({c}, {y}, {x})" for c, y, x in places.tolist())
        for name, places in capsules.items()
    )
    return Picture(
        figure,
        "capsule-cover",
        alt=f"Channels 0 to {channels - 1} as grids of {rows} by {columns} places, and the "
        f"numbers that one capsule takes as (channel, row, column). {lists}.",
    )


@drawn
def weights_and_work(parts: dict[str, tuple[int, int]]) -> Picture:
    """Draw each part's share of the weights and of the multiplications, as bars.

    Args:
        parts: number of weights and of multiplications, by the part's name.

    Returns:
        The picture; its text lists the shares.
    """
    totals = [sum(column) for column in zip(*parts.values(), strict=True)]
    shares = [[x / t for x, t in zip(row, totals, strict=True)] for row in parts.values()]
    figure = Figure(figsize=(WIDTH, 0.5 + 0.62 * len(parts)), layout="constrained")
    axes = figure.subplots()
    for row, pair in enumerate(shares):
        for side, share, color in zip((-0.2, 0.2), pair, (BLUE, ORANGE), strict=True):
            axes.barh(row + side, share, height=0.36, color=color)
            what = "" if row else (" of the weights" if side < 0 else " of the multiplications")
            axes.text(share + 0.02, row + side, f"{share:.1%}{what}", va="center")
    axes.set_yticks(range(len(parts)), list(parts))
    axes.set(xlim=(0, 1.25), xticks=[], ylim=(len(parts) - 0.5, -0.5))
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(length=0)
    listed = zip(parts, shares, strict=True)
    return Picture(
        figure,
        "weights-and-work",
        alt="Shares of the weights and of the multiplications. "
        + " ".join(f"{name}: {w:.1%} and {m:.1%}." for name, (w, m) in listed),
    )
