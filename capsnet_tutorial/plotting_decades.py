"""Charts on logarithmic axes, for values that range over several powers of ten."""

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from capsnet_tutorial.pictures import BLUE, ORANGE, PURPLE, WIDTH, Picture, drawn

SERIES = ((BLUE, "-"), (ORANGE, "--"), (PURPLE, ":"))
"""Colour and line of each series in a chart."""


@drawn
def first_lengths(counts: list[int], lengths: dict[str, list[float]]) -> Picture:
    """Draw the digit capsules' mean length before training over the number of capsules below.

    Args:
        counts: numbers of capsules below, ascending.
        lengths: the mean lengths at each of them, by the rule for the first matrices.

    Returns:
        The picture; its text lists the ends of each line.
    """
    figure = Figure(figsize=(WIDTH, 3.3), layout="constrained")
    axes = figure.subplots()
    for (name, means), (color, line) in zip(lengths.items(), SERIES, strict=False):
        axes.plot(counts, means, color=color, ls=line, marker="o", ms=5)
        axes.text(counts[-1] * 1.2, means[-1], name, va="center")
    axes.set(xscale="log", yscale="log", xlim=(counts[0] / 1.2, counts[-1] * 5))
    axes.set(xlabel="capsules below", ylabel="mean length")
    axes.minorticks_off()
    axes.set_xticks(counts, [str(count) for count in counts])
    _decades(axes, min(map(min, lengths.values())))
    return Picture(
        figure,
        "first-lengths",
        alt=f"The mean length of untrained digit capsules over {counts[0]} to {counts[-1]} "
        "capsules below, on logarithmic axes. "
        + " ".join(f"{name}: {m[0]:.2g} to {m[-1]:.2g}." for name, m in lengths.items()),
    )


@drawn
def loss_terms(terms: dict[str, list[float]], floor: float = 1e-4) -> Picture:
    """Draw the terms of a loss over the steps of learning, on a logarithmic axis.

    Args:
        terms: the values at each step, by the name of the term.
        floor: the lowest value drawn; a line that falls below leaves through the floor.

    Returns:
        The picture; its text names each term's start and end.
    """
    figure = Figure(figsize=(WIDTH, 3.1), layout="constrained")
    axes = figure.subplots()
    for (name, values), (color, line) in zip(terms.items(), SERIES, strict=False):
        shown = [max(value, floor / 10) for value in values]
        axes.plot(shown, color=color, ls=line)
        # Its name stands beside the line where it falls through, or else above its middle.
        low = next((k for k, value in enumerate(values) if value < 5 * floor), None)
        step = len(values) // 2 if low is None else low
        axes.annotate(name, (step, shown[step]), (8, 8), textcoords="offset points")
    axes.set(yscale="log", ylim=(floor, 1.5), xlim=(0, len(shown) - 1))
    axes.set(xlabel="step", ylabel="loss")
    axes.minorticks_off()
    _decades(axes, floor)
    return Picture(
        figure,
        "loss-terms",
        alt=f"Terms of the loss over {len(shown)} steps, on a logarithmic axis. "
        + " ".join(f"{name}: from {v[0]:.2g} to {v[-1]:.2g}." for name, v in terms.items()),
    )


def _decades(axes: Axes, lowest: float) -> None:
    """Mark the powers of ten up the axis, from the one at or below `lowest` to 1."""
    powers = range(math.ceil(-math.log10(lowest)), -1, -1)
    axes.set_yticks([10.0**-k for k in powers], [f"{10.0**-k:.{k}f}" for k in powers])
