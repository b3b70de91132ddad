"""The pictures of the lesson on routing, drawn from values computed there."""

from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from capsnet_tutorial.pictures import BLUE, INK, ORANGE, PURPLE, WIDTH, Picture, drawn

CHILD_STYLES = ((BLUE, "-"), (ORANGE, "--"), (PURPLE, ":"))
"""Colour and line of each child's arrows."""


@drawn
def prediction_arrows(u_hat: Float[Tensor, "i j 2"]) -> Picture:
    """Draw what each child guesses about each parent: a plane for each parent.

    Args:
        u_hat: prediction vectors of the plane, of at most three children.

    Returns:
        The picture; its text lists the guesses.
    """
    reach = 1.15 * u_hat.abs().max().item()
    figure = Figure(figsize=(WIDTH, 2.3), layout="constrained")
    planes = figure.subplots(1, u_hat.shape[1])
    for j, axes in enumerate(planes):
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xticks=[], yticks=[])
        axes.set_xlabel(f"parent {j}")
        axes.spines[:].set(visible=True, linewidth=0.6)
        axes.plot(0, 0, "o", color=INK, ms=3)
        for guess, (color, line) in zip(u_hat[:, j].tolist(), CHILD_STYLES, strict=False):
            axes.plot([0, guess[0]], [0, guess[1]], color=color, ls=line)
            axes.plot(*guess, "o", color=color, ms=5)
    for i, (color, line) in zip(range(len(u_hat)), CHILD_STYLES, strict=False):
        planes[0].plot([], [], color=color, ls=line, label=f"child {i}")
    figure.legend(loc="outside upper center", ncols=len(u_hat), frameon=False)
    return Picture(
        figure,
        "prediction-arrows",
        alt="A plane for each parent, with an arrow from its centre for each child's guess. "
        + " ".join(
            f"Parent {j}: "
            + ", ".join(
                f"child {i} guesses ({x:.1f}, {y:.1f})"
                for i, (x, y) in enumerate(u_hat[:, j].tolist())
            )
            + "."
            for j in range(u_hat.shape[1])
        ),
    )


@drawn
def coupling_rounds(c_ij: Float[Tensor, "r i j"]) -> Picture:
    """Draw the couplings of each round as a grid: a row for a child, a column for a parent.

    Args:
        c_ij: couplings of every round.

    Returns:
        The picture; its text lists the couplings.
    """
    rounds, children, parents = c_ij.shape
    figure = Figure(figsize=(WIDTH, 0.9 + 0.45 * children), layout="constrained")
    for number, (axes, c) in enumerate(zip(figure.subplots(1, rounds), c_ij.tolist(), strict=True)):
        axes.set(xlim=(-0.5, parents - 0.5), ylim=(children - 0.5, -0.5))
        axes.set(xticks=range(parents), yticks=range(children) if number == 0 else [])
        axes.set(title=f"round {number + 1}", xlabel="parent", ylabel="" if number else "child")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        for i, row in enumerate(c):
            for j, share in enumerate(row):
                box = Rectangle((j - 0.48, i - 0.46), 0.96, 0.92, color=BLUE, alpha=0.75 * share)
                axes.add_patch(box)
                axes.text(j, i, f".{100 * share:02.0f}", ha="center", va="center")
    return Picture(
        figure,
        "coupling-rounds",
        alt=f"Couplings of {rounds} rounds. "
        + " ".join(
            f"Round {number}: "
            + "; ".join(
                f"child {i} gives " + ", ".join(f"{share:.2f}" for share in row)
                for i, row in enumerate(c)
            )
            + "."
            for number, c in enumerate(c_ij.tolist(), 1)
        ),
    )
