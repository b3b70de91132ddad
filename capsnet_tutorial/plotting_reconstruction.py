"""The pictures of the lesson on reconstruction, drawn from values computed there."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from capsnet_tutorial.pictures import BLUE, INK, ORANGE, WIDTH, Picture, drawn
from capsnet_tutorial.plotting_training import FADE


@drawn
def bottleneck(image: Float[Tensor, "1 h w"], num_components: int = 16) -> Picture:
    """Draw the way of a digit: many pixels, few numbers, and a frame for as many pixels again.

    Args:
        image: intensities in [0, 1].
        num_components: numbers of a digit capsule.

    Returns:
        The picture.
    """
    figure = Figure(figsize=(WIDTH, 2.35))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 10), ylim=(-1.2, 3.5), aspect="equal")
    axes.set_axis_off()
    pixels = image.numel()
    _picture(axes, image, (0.1, 3.1, 0.0, 3.0))
    axes.add_patch(Rectangle((0.1, 0), 3, 3, fill=False, ec=INK, lw=0.8))
    axes.add_patch(Rectangle((6.9, 0), 3, 3, fill=False, ec=INK, lw=0.8, ls=":"))
    axes.text(8.4, 1.5, "the same\nagain?", ha="center", va="center")
    cell = 3 / num_components
    for k in range(num_components):
        axes.add_patch(Rectangle((4.85, k * cell), 0.3, cell, ec=ORANGE, fc="none", lw=1.2))
    for x, y in ((1.6, pixels), (5.0, num_components), (8.4, pixels)):
        unit = "numbers" if y == num_components else "pixels"
        axes.text(x, -0.25, f"{y} {unit}", ha="center", va="top")
    for tail in (3.4, 5.45):
        style = {"arrowstyle": "-|>", "mutation_scale": 16, "color": INK, "lw": 1.6}
        axes.annotate("", (tail + 1.15, 1.5), (tail, 1.5), arrowprops=style)
    return Picture(
        figure,
        "bottleneck",
        alt=f"A handwritten digit of {pixels} pixels. An arrow leads to a narrow strip of "
        f"{num_components} numbers, and another one from there to an empty frame of {pixels} "
        "pixels with the words: the same again?",
    )


@drawn
def capsule_table(
    capsules: Float[Tensor, "k m"], masked: Float[Tensor, "k m"], names: tuple[str, str]
) -> Picture:
    """Draw one image's capsules before and after masking, a row a class.

    Args:
        capsules: one a class.
        masked: the same with all but one set to zero.
        names: what the two tables show.

    Returns:
        The picture; its text names the lengths and the capsule that is left.
    """
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    most = capsules.abs().max().item()
    classes = len(capsules)
    for axes, values, name in zip(figure.subplots(1, 2), (capsules, masked), names, strict=True):
        for k, row in enumerate(values.tolist()):
            for m, value in enumerate(row):
                shade = {"color": BLUE if value > 0 else ORANGE, "alpha": abs(value) / most}
                if value:
                    axes.add_patch(Rectangle((m - 0.5, k - 0.5), 1, 1, lw=0, **shade))
        columns = values.shape[1]
        axes.set(xlim=(-0.5, columns - 0.5), ylim=(classes - 0.5, -0.5))
        axes.set(xticks=[], yticks=range(classes))
        axes.set_title(name, fontsize=12)
        axes.tick_params(length=0)
        axes.spines[:].set(visible=True, linewidth=0.6)
    kept = masked.norm(dim=1).argmax().item()
    said = ", ".join(f"{k}: {x:.2f}" for k, x in enumerate(capsules.norm(dim=1).tolist()))
    return Picture(
        figure,
        "capsule-table",
        alt=f"Two tables of {classes} capsules, a row each, shaded by the size of each number. "
        f"In the first, the capsules' lengths are {said}. In the second, only the row of class "
        f"{kept} is left, and the others are empty.",
    )


@drawn
def picture_rows(
    rows: dict[str, Float[Tensor, "b 1 h w"]], captions: Sequence[str] = (), what: str = ""
) -> Picture:
    """Draw rows of small pictures, one below the other, to be compared column by column.

    Args:
        rows: the pictures of each row by the row's name; all rows are equally long.
        captions: a short text above each column, if any.
        what: the beginning of the text alternative, which goes on with names and captions.

    Returns:
        The picture.
    """
    images = list(rows.values())
    columns, (height, width) = len(images[0]), images[0].shape[-2:]
    montage = _montage(torch.stack(images))
    lines = max((caption.count("\n") + 1 for caption in captions), default=0)
    left, above = 0.88, 0.06 + 0.2 * lines
    tall = (WIDTH - left) * len(rows) * height / (columns * width)
    figure = Figure(figsize=(WIDTH, tall + above + 0.04))
    high = tall + above + 0.04
    axes = figure.add_axes((left / WIDTH, 0.04 / high, 1 - left / WIDTH, tall / high))
    _picture(axes, montage, (0, columns, len(rows), 0))
    axes.set_axis_off()
    for r, name in enumerate(rows):
        axes.text(-0.12, r + 0.5, name, ha="right", va="center")
    for c, caption in enumerate(captions):
        axes.text(c + 0.5, -0.05, caption, ha="center", va="bottom", linespacing=1.05)
    named = ", ".join(name.replace("\n", " ") for name in rows)
    said = ", ".join(caption.replace("\n", " ") for caption in captions)
    alt = f"{what}. Rows: {named}." + (f" Columns: {said}." if said else "")
    return Picture(figure, "picture-rows", alt=alt)


@drawn
def perturbations(
    pictures: Float[Tensor, "m s 1 h w"], offsets: Sequence[float], digit: int
) -> Picture:
    """Draw a capsule's pictures with one dimension moved at a time, as in Figure 4.

    Args:
        pictures: for each dimension, the picture at each offset.
        offsets: what was added to the dimension, ascending.
        digit: the capsule's class.

    Returns:
        The picture; its text names the dimension that changes the picture most, and least.
    """
    dimensions, steps, _, height, width = pictures.shape
    left, above, right = 0.42, 0.3, 0.1
    wide = WIDTH - left - right
    tall = wide * dimensions * height / (steps * width)
    high = tall + above
    figure = Figure(figsize=(WIDTH, high))
    axes = figure.add_axes((left / WIDTH, 0, wide / WIDTH, tall / high))
    _picture(axes, _montage(pictures), (0, steps, dimensions, 0))
    axes.set_axis_off()
    for m in range(dimensions):
        axes.text(-0.15, m + 0.5, str(m), ha="right", va="center")
    for s in (0, steps // 2, steps - 1):
        label = f"{offsets[s]:+.2f}".replace("-", "−") if offsets[s] else "0"
        axes.text(s + 0.5, -0.08, label, ha="center", va="bottom")
    change = (pictures[:, -1] - pictures[:, 0]).square().flatten(1).sum(dim=1)
    return Picture(
        figure,
        "perturbations",
        alt=f"A grid of drawn pictures of a {digit}: {dimensions} rows, one for each dimension of "
        f"its capsule, and {steps} columns, in which the dimension is moved by {offsets[0]:.2f} to "
        f"{offsets[-1]:.2f}. From end to end, dimension {change.argmax()} changes the picture "
        f"most and dimension {change.argmin()} least.",
    )


@drawn
def scatter(
    x: Float[Tensor, " b"], y: Float[Tensor, " b"], labels: tuple[str, str], r: float
) -> Picture:
    """Draw one dot for each digit.

    Args:
        x: one measure of each digit.
        y: another one.
        labels: what they are.
        r: their correlation, to be printed in the picture.

    Returns:
        The picture; its text names the correlation.
    """
    figure = Figure(figsize=(WIDTH, 3.1), layout="constrained")
    axes = figure.subplots()
    axes.plot(x.tolist(), y.tolist(), "o", color=BLUE, ms=5, alpha=0.6, mew=0)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    axes.margins(y=0.18)
    said = f"{r:.2f}".replace("-", "−")
    at = (0.98, 0.98, "right") if r < 0 else (0.02, 0.98, "left")
    axes.text(*at[:2], f"correlation {said}", ha=at[2], va="top", transform=axes.transAxes)
    return Picture(
        figure,
        "scatter",
        alt=f"{len(x)} dots, one for each digit: {labels[1]} over {labels[0]}. "
        f"Their correlation is {said}.",
    )


def _montage(pictures: Float[Tensor, "r c 1 h w"]) -> Float[Tensor, "1 y x"]:
    """Put rows and columns of pictures together into one."""
    rows, columns, _, height, width = pictures.shape
    across = pictures[:, :, 0].permute(0, 2, 1, 3)
    return across.reshape(1, rows * height, columns * width)


def _picture(axes: Axes, image: Float[Tensor, "1 h w"], extent: Sequence[float | int]) -> None:
    """Draw an image into a rectangle (left, right, bottom, top), its pixels as they are."""
    axes.imshow(
        image[0].detach().numpy(), cmap=FADE, vmin=0, vmax=1, interpolation="none", extent=extent
    )
