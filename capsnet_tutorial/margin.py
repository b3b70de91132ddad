"""The margin loss: a class that is present asks for a long capsule, an absent one for a short."""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from capsnet_tutorial.squashing import at_least_float32, lengths


def margin_loss(
    v_j: Shaped[Tensor, "..."],
    targets: Shaped[Tensor, "..."],
    m_plus: float = 0.9,
    m_minus: float = 0.1,
    lambda_: float = 0.5,
) -> Float[Tensor, ""]:
    r"""Sum the margin loss over the classes and average it over the batch (Equation 4).

    $$
    \begin{aligned}
    L_k = {} & T_k \max(0,\, m^+ - \lVert v_k \rVert)^2 \\
    & {} + \lambda\, (1 - T_k) \max(0,\, \lVert v_k \rVert - m^-)^2
    \end{aligned}
    $$

    Args:
        v_j: one capsule a class, `[b, k, m]`.
        targets: class numbers `[b]`, or `[b, k]` with 1 for every class present and 0 elsewhere;
            several classes may be present at once.
        m_plus: a present class costs nothing from this length on.
        m_minus: an absent class costs nothing up to this length.
        lambda_: weight of the absent classes, so that nine of them don't shrink all lengths at
            first.

    Returns:
        A number, at least 0, in float32 or wider.

    Raises:
        TypeError: if `v_j` isn't floating point.
        ValueError: if the shapes don't fit, the batch is empty, a class number is out of range, or
            presence isn't between 0 and 1.

    Differs from the paper: it gives the loss of one image; this is the mean over a batch. Presence
    may also lie between 0 and 1.

    Source: Sabour, Frosst and Hinton (2017), Equation 4 and Section 3.

    >>> v_j = torch.zeros(1, 10, 16)  # all capsules zero: only the true class pays, 0.9 squared
    >>> margin_loss(v_j, torch.tensor([3]))
    tensor(0.8100)
    """
    if v_j.ndim != 3 or len(v_j) == 0:
        raise ValueError(
            "v_j must have the axes [batch, class, component] and hold "
            f"at least one image, got shape {tuple(v_j.shape)}"
        )
    # Lengths: capsules `[b, k, m]` become lengths `[b, k]`, and targets become $T_k$.
    length = lengths(at_least_float32(v_j))
    present = class_presence(targets, *length.shape).to(length)
    # Margins: `clamp(min=0)` is the max of the formula.
    too_short = (m_plus - length).clamp(min=0) ** 2
    too_long = (length - m_minus).clamp(min=0) ** 2
    loss_k = present * too_short + lambda_ * (1 - present) * too_long
    # Sum: over the classes; the mean is over the images.
    return loss_k.sum(dim=1).mean()


def class_presence(
    targets: Shaped[Tensor, "..."], batch_size: int, num_classes: int
) -> Shaped[Tensor, "b k"]:
    r"""Turn class numbers into $T_k$: 1 for a class that is present, 0 for one that isn't.

    Args:
        targets: class numbers `[b]`, or presence `[b, k]` itself, which is checked and returned.
        batch_size: b.
        num_classes: k.

    Returns:
        Presence `[b, k]`.

    Raises:
        ValueError: if the shape doesn't fit, a class number is out of range, or presence isn't
            between 0 and 1. Values are looked at on the CPU only: reading them from a GPU would
            make each step wait for it. `fit` and `evaluate` look at all digits once instead.

    >>> class_presence(torch.tensor([2]), 1, 3)
    tensor([[0, 0, 1]])
    """
    shape = tuple(targets.shape)
    on_cpu = targets.device.type == "cpu"
    if shape == (batch_size, num_classes):
        if on_cpu and not ((targets >= 0) & (targets <= 1)).all():
            raise ValueError("targets of shape [batch, class] must lie between 0 and 1")
        return targets
    if shape != (batch_size,) or targets.is_floating_point() or targets.dtype == torch.bool:
        raise ValueError(
            f"targets must be integer class numbers of shape ({batch_size},) or presence of shape "
            f"({batch_size}, {num_classes}), got {targets.dtype} of shape {shape}"
        )
    if on_cpu and (targets.min() < 0 or targets.max() >= num_classes):
        raise ValueError(
            f"class numbers must lie between 0 and {num_classes - 1}, "
            f"got {targets.min()} to {targets.max()}"
        )
    return torch.nn.functional.one_hot(targets.long(), num_classes)
