"""The pictures of the lesson on training, drawn from values computed there."""

import math
from collections.abc import Sequence

from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from capsnet_tutorial.pictures import BLUE, INK, ORANGE, PURPLE, WIDTH, Picture, drawn

FADE = LinearSegmentedColormap.from_list("fade", [(*to_rgb(BLUE), 0.0), (*to_rgb(BLUE), 1.0)])
"""Intensity 0 is clear and 1 is blue, so that digits read on a light and on a dark ground."""


@drawn
def digit_grid(
    images: Float[Tensor, "b 1 h w"],
    captions: Sequence[str],
    columns: int,
    what: str,
    framed: bool = False,
) -> Picture:
    """Draw digits in rows, each with a caption above.

    Args:
        images: intensities in [0, 1].
        captions: a short text for each image; it may be empty.
        columns: images a row.
        what: the beginning of the text alternative, which goes on with the captions.
        framed: draw each image's edge, to show where in it the digit is.

    Returns:
        The picture.
    """
    rows = math.ceil(len(images) / columns)
    lines = max(caption.count("\n") + 1 if caption else 0 for caption in captions)
    cell = WIDTH / columns
    figure = Figure(figsize=(WIDTH, rows * (0.92 * cell + 0.21 * lines) + 0.05))
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=1 - 0.22 * lines / _high(figure))
    figure.subplots_adjust(hspace=0.04 + 0.23 * lines / cell, wspace=0.08)
    for number, axes in enumerate(figure.subplots(rows, columns, squeeze=False).flat):
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set(visible=framed and number < len(images), linewidth=0.6)
        if number < len(images):
            _digit(axes, images[number])
            axes.set_title(captions[number], fontsize=12, pad=3, linespacing=1.1)
    said = ", ".join(caption.replace("\n", " ") for caption in captions if caption)
    return Picture(figure, "digits", alt=f"{what}: {said}.")


@drawn
def piles(counts: dict[str, int]) -> Picture:
    """Draw how many digits there are for what, as bars.

    Args:
        counts: what the digits are for, and how many.

    Returns:
        The picture; its text lists the counts.
    """
    figure = Figure(figsize=(WIDTH, 0.62 * len(counts)), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    most = max(counts.values())
    axes.set(xlim=(0, 1.25 * most), ylim=(len(counts) - 0.4, -0.75))
    colours = (BLUE, ORANGE, PURPLE)
    for row, ((name, count), color) in enumerate(zip(counts.items(), colours, strict=False)):
        axes.add_patch(Rectangle((0, row - 0.12), count, 0.4, color=color))
        axes.text(0, row - 0.18, name, va="bottom")
        axes.text(count + 0.02 * most, row + 0.08, f"{count:,}", va="center")
    said = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return Picture(figure, "piles", alt=f"A bar for each pile of digits: {said}.")


@drawn
def training_curves(
    losses: Sequence[float],
    validation_losses: Sequence[float],
    errors: Sequence[float],
    validation_errors: Sequence[float],
    moves: str = "shifted",
) -> Picture:
    """Draw loss and error over the epochs, on the digits to learn from and on those set aside.

    Args:
        losses: mean loss of each epoch's training batches.
        validation_losses: mean loss on the validation digits after each epoch.
        errors: share of mistakes in each epoch's training batches.
        validation_errors: share of mistakes on the validation digits after each epoch.
        moves: what happened to the digits in training.

    Returns:
        The picture; its text names the first and the last values.
    """
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    epochs = range(1, len(losses) + 1)
    style = {"marker": "o", "ms": 5} if len(losses) <= 20 else {}
    percents = [[100 * error for error in pair] for pair in (errors, validation_errors)]
    for axes, (train, validation) in ((upper, (losses, validation_losses)), (lower, percents)):
        axes.plot(epochs, train, color=BLUE, label=f"in training, {moves}", **style)
        axes.plot(epochs, validation, color=ORANGE, ls="--", label="set aside", **style)
        axes.set_ylim(0, 1.05 * max(*train, *validation))
    upper.set_ylabel("mean loss")
    lower.set(ylabel="error in %", xlabel="epoch")
    lower.xaxis.get_major_locator().set_params(integer=True)
    upper.legend(frameon=False)
    return Picture(
        figure,
        "training-curves",
        alt=f"Two charts over {len(losses)} epochs. Mean loss: in training from {losses[0]:.3f} to "
        f"{losses[-1]:.3f}, on the digits set aside from {validation_losses[0]:.3f} to "
        f"{validation_losses[-1]:.3f}. Error: in training from {errors[0]:.1%} to "
        f"{errors[-1]:.1%}, on the digits set aside from {validation_errors[0]:.1%} to "
        f"{validation_errors[-1]:.1%}.",
    )


@drawn
def confusion(matrix: Int[Tensor, "k k"]) -> Picture:
    """Draw which class was read as which; mistakes are shaded by how often they happened.

    Args:
        matrix: counts, a row for each true class and a column for each predicted one.

    Returns:
        The picture; its text lists the mistakes that happened more than once.
    """
    classes = len(matrix)
    figure = Figure(figsize=(WIDTH, 0.92 * WIDTH), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(-0.5, classes - 0.5), ylim=(classes - 0.5, -0.5), aspect="equal")
    axes.set(xticks=range(classes), yticks=range(classes), xlabel="read as", ylabel="true class")
    axes.spines[:].set(visible=True, linewidth=0.6)
    axes.tick_params(length=0)
    mistakes = {
        (k, j): count
        for k, row in enumerate(matrix.tolist())
        for j, count in enumerate(row)
        if k != j and count
    }
    most = max(mistakes.values(), default=1)
    for (k, j), count in mistakes.items():
        box = {"color": ORANGE, "alpha": 0.15 + 0.45 * count / most, "lw": 0}
        axes.add_patch(Rectangle((j - 0.5, k - 0.5), 1, 1, **box))
        axes.text(j, k, count, ha="center", va="center")
    for k, count in enumerate(matrix.diagonal().tolist()):
        axes.text(k, k, count, ha="center", va="center")
    often = sorted(mistakes.items(), key=lambda item: -item[1])
    said = ", ".join(f"{k} as {j} {n} times" for (k, j), n in often if n > 1) or "none"
    return Picture(
        figure,
        "confusion",
        alt=f"A table of true classes and what they were read as. "
        f"{int(matrix.diagonal().sum())} of {int(matrix.sum())} are on its diagonal. Mistakes made "
        f"more than once: {said}.",
    )


@drawn
def one_prediction(image: Float[Tensor, "1 h w"], lengths: Float[Tensor, " k"]) -> Picture:
    """Draw one digit beside the lengths of its capsules.

    Args:
        image: intensities in [0, 1].
        lengths: one for each class.

    Returns:
        The picture; its text lists the lengths.
    """
    figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
    figure.get_layout_engine().set(wspace=0.1)
    left, right = figure.subplots(1, 2, width_ratios=(2, 3))
    _digit(left, image)
    left.set(xticks=[], yticks=[])
    left.spines[:].set(visible=True, linewidth=0.6)
    longest = int(lengths.argmax())
    values = lengths.tolist()
    right.set(xlim=(0, 1), yticks=range(len(values)), ylim=(len(values) - 0.5, -0.5))
    right.set(xlabel="length of the capsule", xticks=[0, 0.5, 1])
    for k, length in enumerate(values):
        color, alpha = (BLUE, 1.0) if k == longest else (INK, 0.4)
        right.add_patch(Rectangle((0, k - 0.3), length, 0.6, color=color, alpha=alpha, lw=0))
    right.tick_params(axis="y", length=0)
    said = ", ".join(f"{k}: {length:.2f}" for k, length in enumerate(values))
    return Picture(
        figure,
        "one-prediction",
        alt="A digit, and a bar for the length of each class's capsule. The longest is "
        f"{longest}'s. {said}.",
    )


def _digit(axes: Axes, image: Float[Tensor, "1 h w"]) -> None:
    """Draw one digit, its pixels as they are."""
    axes.imshow(image[0].numpy(), cmap=FADE, vmin=0, vmax=1, interpolation="none")


def _high(figure: Figure) -> float:
    """Return a figure's height in inches."""
    return float(figure.get_size_inches()[1])
