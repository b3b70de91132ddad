"""The pictures of the lesson on the margin loss, drawn from values computed there."""

from collections.abc import Sequence

from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from capsnet_tutorial.pictures import BLUE, INK, ORANGE, PURPLE, WIDTH, Picture, drawn


@drawn
def margin_curves(
    length: Float[Tensor, " n"], present: Float[Tensor, " n"], absent: Float[Tensor, " n"]
) -> Picture:
    """Draw what a capsule costs over its length, if its class is present and if it is absent.

    Args:
        length: ascending lengths from 0 to 1.
        present: what each of them costs if the class is present.
        absent: what each of them costs if it is absent.

    Returns:
        The picture; its text names the ends, and where the costs become 0.
    """
    n, high, low = length.tolist(), present.tolist(), absent.tolist()
    enough = n[next(k for k, cost in enumerate(high) if cost < 1e-9)]
    allowed = n[max(k for k, cost in enumerate(low) if cost < 1e-9)]
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.plot(n, high, color=BLUE)
    axes.plot(n, low, color=ORANGE, ls="--")
    for end in (enough, allowed):
        axes.axvline(end, color=INK, lw=0.8, ls=":")
    axes.text(0.22, high[len(n) // 5], "the digit is there", va="bottom")
    axes.text(0.64, low[2 * len(n) // 3] + 0.03, "it isn't", ha="right", va="bottom")
    axes.set(xlabel="length of the capsule", ylabel="cost", xlim=(0, 1), ylim=(-0.02, 0.85))
    axes.set(xticks=[0, allowed, 0.5, enough, 1], yticks=[0, 0.4, 0.8])
    return Picture(
        figure,
        "margin-curves",
        alt=f"Cost over a capsule's length. If the digit is there, it falls from {high[0]:.2f} at "
        f"length 0, ever more gently, to 0 at {enough:.1f} and stays 0. If it isn't, dashed, the "
        f"cost is 0 up to {allowed:.1f} and rises, ever more steeply, to {low[-1]:.3f} at length "
        "1.",
    )


@drawn
def margin_slopes(
    length: Float[Tensor, " n"], squared: Float[Tensor, "2 n"], plain: Float[Tensor, "2 n"]
) -> Picture:
    """Draw the slopes of the cost of a present and of an absent class, with squares and without.

    Args:
        length: ascending lengths from 0 to 1.
        squared: slopes of the paper's loss; the first row is a present class's.
        plain: slopes of the loss without squares.

    Returns:
        The picture; its text names the slopes at both ends.
    """
    n = length.tolist()
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    texts = []
    for k, (axes, color, name) in enumerate(
        zip(panels, (BLUE, ORANGE), ("the digit is there", "it isn't there"), strict=True)
    ):
        with_square, without = squared[k].tolist(), plain[k].tolist()
        axes.axhline(0, color=INK, lw=0.8, ls=":")
        axes.plot(n, with_square, color=color)
        axes.plot(n, without, color=INK, lw=1.6, ls="--")
        axes.set_title(name, fontsize=12)
        axes.set(xlabel="length", xlim=(0, 1), ylim=(-1.9, 1.1))
        axes.set(xticks=[0, 0.5, 1], yticks=[-1, 0, 1])
        texts.append(
            f"{name}: with squares from {with_square[0]:.1f} to {with_square[-1]:.1f} along a "
            f"slanted line, without from {without[0]:.1f} to {without[-1]:.1f} in one jump"
        )
    panels[0].set_ylabel("slope")
    panels[0].plot([], [], color=INK, label="squared")
    panels[0].plot([], [], color=INK, lw=1.6, ls="--", label="not squared")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return Picture(
        figure,
        "margin-slopes",
        alt="Slope of the cost over the length, in two panels. If " + "; if ".join(texts) + ".",
    )


@drawn
def pull_balance(
    length: Float[Tensor, " n"], up: Float[Tensor, " n"], down: dict[float, Float[Tensor, " n"]]
) -> Picture:
    """Draw how hard the classes pull on ten equally long capsules, and where they hold the balance.

    Args:
        length: ascending common lengths.
        up: pull of the present class.
        down: pull of all absent classes together, by their weight; two weights.

    Returns:
        The picture; its text names the lengths at which the pulls are equal.
    """
    n = length.tolist()
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.plot(n, up.tolist(), color=BLUE)
    axes.text(0.62, 0.75, "one present class")
    # Colour and line, and where the labels of the line and of the meeting point lie.
    styles = (
        (ORANGE, "--", {"x": 0.6, "ha": "left"}, {"xytext": (5, -10), "ha": "left", "va": "top"}),
        (PURPLE, "-.", {"x": 0.3, "ha": "right"}, {"xytext": (-7, 14), "ha": "right"}),
    )
    meetings = []
    for (weight, pull), (color, line, label, offset) in zip(down.items(), styles, strict=True):
        k = int((pull - up).abs().argmin())
        meetings.append(f"{n[k]:.3f} where it is {weight:g}")
        axes.plot(n, pull.tolist(), color=color, ls=line)
        axes.plot(n[k], up[k], "o", color=color)
        meeting = (n[k], up[k].item())
        axes.annotate(f"{n[k]:.3f}", meeting, textcoords="offset points", **offset)
        axes.text(y=3.9, s=f"λ = {weight:g}", **label)
    axes.set(xlabel="common length of all ten", ylabel="pull", xlim=(0, 1), ylim=(0, 4.5))
    axes.set(xticks=[0, 0.5, 1], yticks=[0, 2, 4])
    return Picture(
        figure,
        "pull-balance",
        alt="Pull over the common length of ten capsules. That of the one present class falls in a "
        f"line from {up[0]:.1f} at length {n[0]:.0f}. That of the nine absent ones together is 0 "
        "up to 0.1 and then rises, the faster the greater its weight λ. They are equal at length "
        + ", and at ".join(meetings)
        + ".",
    )


@drawn
def first_steps(
    runs: dict[float, tuple[Sequence[float], Sequence[float]]], balance: dict[float, float]
) -> Picture:
    """Draw mean lengths over the first steps of training, a panel for each weight λ.

    Args:
        runs: mean lengths of the true classes' capsules and of the others, by the weight.
        balance: the length of an undecided network, by the weight.

    Returns:
        The picture; its text names the last lengths.
    """
    figure = Figure(figsize=(WIDTH, 2.9), layout="constrained")
    panels = figure.subplots(1, len(runs), sharey=True)
    ends = []
    for axes, (weight, (present, absent)) in zip(panels, runs.items(), strict=True):
        axes.axhline(balance[weight], color=INK, lw=1, ls=":")
        axes.plot(present, color=BLUE)
        axes.plot(absent, color=ORANGE, ls="--")
        axes.set_title(f"λ = {weight:g}", fontsize=12)
        axes.set(xlim=(0, len(present) - 1), ylim=(0, 1))
        axes.set(xticks=[0, len(present) // 2], yticks=[0, 0.5, 1])
        ends.append(
            f"With λ = {weight:g} the true classes' mean length is {present[0]:.2f}, then "
            f"{present[1]:.2f} after one step and {present[-1]:.2f} at the end; the others' is "
            f"{absent[0]:.2f}, {absent[1]:.2f} and {absent[-1]:.2f}; a dotted line marks "
            f"{balance[weight]:.2f}."
        )
    figure.supxlabel("steps", fontsize=12)
    panels[0].set_ylabel("mean length")
    panels[0].plot([], [], color=BLUE, label="true class")
    panels[0].plot([], [], color=ORANGE, ls="--", label="the others")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return Picture(figure, "first-steps", alt=" ".join(ends))
