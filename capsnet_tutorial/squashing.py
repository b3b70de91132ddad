"""Squash a vector's length into [0, 1), and measure lengths, without ever dividing by zero."""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor


def at_least_float32(x: Shaped[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return `x` in float32 if its type is narrower, and unchanged otherwise.

    float16 ends at 65,504 and bfloat16 keeps three digits, so a squared norm leaves the first and
    is coarse in the second. All sums of squares in this package go through here.

    Args:
        x: any floating-point tensor.

    Returns:
        The same values in float32 or wider.

    Raises:
        TypeError: if `x` holds integers or booleans.

    >>> at_least_float32(torch.ones(2, dtype=torch.float16)).dtype
    torch.float32
    """
    if not x.is_floating_point():
        raise TypeError(
            f"capsules must be floating point, got {x.dtype}: call .float() on them first"
        )
    return x.float() if torch.finfo(x.dtype).bits < 32 else x


def lengths(v: Shaped[Tensor, "..."], dim: int = -1) -> Float[Tensor, "..."]:
    r"""Measure the length of each capsule, the probability that its entity is present (Section 2).

    $$
    \lVert v \rVert = \sqrt{\textstyle\sum_m v_m^2}
    $$

    Args:
        v: capsules, of any floating type and any shape.
        dim: the axis that holds a capsule's components.

    Returns:
        The lengths, in `v`'s type, without axis `dim`. The gradient at a zero capsule is 0, where
        that of a plain square root would be NaN.

    Raises:
        TypeError: if `v` isn't floating point.

    Source: Sabour, Frosst and Hinton (2017), Section 2.

    >>> lengths(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([5., 0.])
    """
    return torch.linalg.vector_norm(at_least_float32(v), dim=dim).to(v.dtype)


def squash(
    s: Shaped[Tensor, "*shape"],
    dim: int = -1,
) -> Float[Tensor, "*shape"]:
    r"""Shrink each vector to a length below 1 and keep its direction (Equation 1).

    $$
    v_j = \frac{\lVert s_j \rVert^2}{1 + \lVert s_j \rVert^2}\, \frac{s_j}{\lVert s_j \rVert}
        = s_j\, \frac{\lVert s_j \rVert}{1 + \lVert s_j \rVert^2}
    $$

    The code computes the right-hand form. Its denominator is at least 1, so it needs no epsilon.

    Args:
        s: total inputs, of any floating type and any shape; lengths up to 1e19.
        dim: the axis that holds a vector's components.

    Returns:
        Vectors of `s`'s shape and type, each of length ‖s‖²/(1 + ‖s‖²). Zeros stay zeros, with
        gradient zero.

    Raises:
        TypeError: if `s` isn't floating point.

    Differs from the paper: only in the form above, which has the same value wherever the paper's is
    defined, and a value at 0 too.

    Source: Sabour, Frosst and Hinton (2017), Equation 1.

    >>> v = squash(torch.tensor([3.0, 4.0]))  # length 5, so v has length 25/26
    >>> torch.allclose(v, torch.tensor([3.0, 4.0]) * 5 / 26)
    True
    >>> torch.allclose(v.norm(), torch.tensor(25 / 26))
    True
    """
    # Precision: a half type's squares would overflow.
    wide = at_least_float32(s)
    # Length: an axis of size 1 stays, so that each length meets its own vector.
    norm = torch.linalg.vector_norm(wide, dim=dim, keepdim=True)
    # Shrink: the denominator is at least 1, so there is nothing to protect.
    return (wide * (norm / (1 + norm**2))).to(s.dtype)
