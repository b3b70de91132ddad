"""Margin losses without a square, of a softmax or as a mean, and a guess over the batch."""

from jaxtyping import Float, Int, Shaped
from torch import Tensor

from capsnet_tutorial.margin import class_presence
from capsnet_tutorial.squashing import lengths


def margin_costs(
    length: Float[Tensor, "b k"], targets: Shaped[Tensor, "..."], power: int = 2
) -> Float[Tensor, "b k"]:
    """Compute Equation 4 before its sum over the classes, from lengths; the paper's power is 2.

    Args:
        length: the capsules' lengths.
        targets: class numbers `[b]` or presence `[b, k]`.
        power: of the distance to the margin.

    Returns:
        The cost of each class of each image.

    >>> import torch
    >>> margin_costs(torch.tensor([[0.0, 1.0]]), torch.tensor([0])).sum()  # 0.81 + 0.405
    tensor(1.2150)
    """
    present = class_presence(targets, *length.shape).to(length)
    too_short = (0.9 - length).clamp(min=0) ** power
    too_long = (length - 0.1).clamp(min=0) ** power
    return present * too_short + 0.5 * (1 - present) * too_long


def margin_not_squared(
    v_j: Float[Tensor, "b k m"], targets: Shaped[Tensor, "..."]
) -> Float[Tensor, ""]:
    """Take the margin loss without its squares.

    The fault: the pull is as strong right beside the margin as far from it, and nine absent classes
    outweigh the present one wherever all lengths are alike and above 0.1.

    Args:
        v_j: digit capsules.
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The mean over the batch.

    >>> import torch
    >>> margin_not_squared(torch.zeros(1, 10, 16), torch.tensor([3]))  # 0.81 is right
    tensor(0.9000)
    """
    return margin_costs(lengths(v_j), targets, power=1).sum(dim=1).mean()


def margin_of_softmax(
    v_j: Float[Tensor, "b k m"], targets: Shaped[Tensor, "..."]
) -> Float[Tensor, ""]:
    """Take the margin loss of a softmax of the lengths.

    The fault: with ten lengths in [0, 1] the true class gets a share of e / (e + 9) = 0.232 at
    most, so the loss never falls below 0.446.

    Args:
        v_j: digit capsules.
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The mean over the batch.

    >>> import torch
    >>> margin_of_softmax(torch.zeros(1, 10, 16), torch.tensor([3]))  # 0.9 less 0.1, squared
    tensor(0.6400)
    """
    return margin_costs(lengths(v_j).softmax(dim=1), targets).sum(dim=1).mean()


def margin_mean(v_j: Float[Tensor, "b k m"], targets: Shaped[Tensor, "..."]) -> Float[Tensor, ""]:
    """Average the margin loss over the classes where the paper adds it up.

    The fault: with ten classes it is a tenth, so the reconstruction loss weighs ten times as much.

    Args:
        v_j: digit capsules.
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The mean over batch and classes.

    >>> import torch
    >>> margin_mean(torch.zeros(1, 10, 16), torch.tensor([3]))  # 0.81 is right
    tensor(0.0810)
    """
    return margin_costs(lengths(v_j), targets).mean()


def margin_by_plain_root(
    v_j: Float[Tensor, "b k m"], targets: Shaped[Tensor, "..."]
) -> Float[Tensor, ""]:
    """Take the right margin loss of lengths that are a root written out by hand.

    The fault: the root's slope at 0 is infinite, so one zero capsule makes its gradient NaN.

    Args:
        v_j: digit capsules.
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The mean over the batch.

    >>> import torch
    >>> margin_by_plain_root(torch.zeros(1, 10, 16), torch.tensor([3]))
    tensor(0.8100)
    """
    return margin_costs((v_j**2).sum(dim=-1).sqrt(), targets).sum(dim=1).mean()


def predict_over_batch(length: Float[Tensor, "b k"]) -> Int[Tensor, " b"]:
    """Choose each image's class after a softmax of the lengths over the *batch*.

    The fault: an image competes with its neighbours. Alone, it always gets class 0.

    Args:
        length: the capsules' lengths.

    Returns:
        A class an image.

    >>> import torch
    >>> predict_over_batch(torch.tensor([[0.1, 0.2, 0.9]]))
    tensor([0])
    """
    return length.softmax(dim=0).argmax(dim=1)
