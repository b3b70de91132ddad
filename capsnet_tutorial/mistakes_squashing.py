"""Ways to write squash that break at zero, near zero or in float16."""

import torch
from jaxtyping import Float
from torch import Tensor


def paper_squash(
    s: Float[Tensor, "... m"], inside: float = 0.0, outside: float = 0.0
) -> Float[Tensor, "... m"]:
    """Compute Equation 1 term by term, with an epsilon inside or outside of the root.

    Args:
        s: vectors along the last axis.
        inside: what is added to the squared length, under the root.
        outside: what is added to the root.

    Returns:
        The squashed vectors; without any epsilon, as the equation is printed.

    >>> paper_squash(torch.tensor([3.0, 4.0]))  # 25/26 of (0.6, 0.8)
    tensor([0.5769, 0.7692])
    """
    # Epsilon: inside of the root, outside, or none.
    squared = (s**2).sum(dim=-1, keepdim=True)
    norm = torch.sqrt(squared + inside) + outside
    return squared / (1 + squared) * s / norm


def squash_literal(s: Float[Tensor, "... m"]) -> Float[Tensor, "... m"]:
    """Squash as Equation 1 is printed, dividing by the length.

    The fault: at 0 it divides 0 by 0, so the value and the gradient are NaN.

    Args:
        s: vectors along the last axis.

    Returns:
        The squashed vectors, NaN where `s` is 0.

    >>> squash_literal(torch.zeros(2))
    tensor([nan, nan])
    """
    return paper_squash(s)


def squash_epsilon_inside(s: Float[Tensor, "... m"]) -> Float[Tensor, "... m"]:
    """Squash with an epsilon of 1e-7 under the root.

    The fault: the epsilon outweighs small squared lengths. A vector of length 1e-4 comes out 70%
    too short.

    Args:
        s: vectors along the last axis.

    Returns:
        The squashed vectors, too short where `s` is.

    >>> squash_epsilon_inside(torch.zeros(2))
    tensor([0., 0.])
    """
    return paper_squash(s, inside=1e-7)


def squash_epsilon_outside(s: Float[Tensor, "... m"]) -> Float[Tensor, "... m"]:
    """Squash with an epsilon of 1e-7 added to the length, behind the root.

    The fault: the root itself is still taken of 0, where its slope is infinite, so the gradient at
    0 is NaN though the value is 0.

    Args:
        s: vectors along the last axis.

    Returns:
        The squashed vectors.

    >>> squash_epsilon_outside(torch.zeros(2))
    tensor([0., 0.])
    """
    return paper_squash(s, outside=1e-7)


def squash_narrow(s: Float[Tensor, "... m"]) -> Float[Tensor, "... m"]:
    """Squash by the right formula, but in the type of `s`.

    The fault: in float16 a squared length above 65,504 overflows to infinity, and the longest
    vectors come out as 0. `squash` computes in float32.

    Args:
        s: vectors along the last axis.

    Returns:
        The squashed vectors, of the type of `s`.

    >>> squash_narrow(torch.tensor([192.0, 256.0], dtype=torch.float16))
    tensor([0., 0.], dtype=torch.float16)
    """
    norm = torch.linalg.vector_norm(s, dim=-1, keepdim=True)
    return s * (norm / (1 + norm**2))
