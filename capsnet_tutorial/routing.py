"""Routing by agreement: how capsules below share themselves out among the capsules above."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from capsnet_tutorial.routing_gradient import RoutingInOneProduct
from capsnet_tutorial.squashing import at_least_float32, squash


class RoutingTrace(NamedTuple):
    """What each iteration of routing computed; the first axis, `r`, counts the iterations."""

    b_ij: Float[Tensor, "r b i j"]  # logits from which the iteration's couplings were made
    c_ij: Float[Tensor, "r b i j"]  # couplings: for each child i they add up to 1 over j
    s_j: Float[Tensor, "r b j m"]  # total inputs
    v_j: Float[Tensor, "r b j m"]  # squashed outputs


def dynamic_routing(
    u_hat: Shaped[Tensor, "..."],
    num_iterations: int = 3,
    *,
    stop_gradient: bool = False,
    return_trace: bool = False,
) -> Float[Tensor, "b j m"] | tuple[Float[Tensor, "b j m"], RoutingTrace]:
    r"""Route prediction vectors to the parents that they agree on (Procedure 1).

    Starting from $b_{ij} = 0$ for every image, each iteration computes

    $$
    \begin{aligned}
    c_{ij} & = \exp b_{ij} \,/\, \textstyle\sum_k \exp b_{ik} \\
    s_j & = \textstyle\sum_i c_{ij}\, \hat{u}_{j|i} \\
    v_j & = \operatorname{squash}(s_j) \\
    b_{ij} & \leftarrow b_{ij} + v_j \cdot \hat{u}_{j|i}
    \end{aligned}
    $$

    The softmax runs over the parents, so each child's couplings add up to 1.

    Args:
        u_hat: prediction vectors `[b, i, j, m]`: image, child, parent, component.
        num_iterations: how many times couplings are computed, at least 1. The paper uses 3.
        stop_gradient: let `u_hat` carry a gradient in the last iteration only. It saves time and
            memory; the couplings then count as constants.
        return_trace: also return every iteration's logits, couplings, inputs and outputs. Their
            gradient is left to autograd.

    Returns:
        The parents `v_j`, `[b, j, m]`, in `u_hat`'s type; with `return_trace`, a pair of them and a
        `RoutingTrace` in float32 or wider.

    Raises:
        TypeError: if `u_hat` isn't floating point.
        ValueError: if `u_hat` hasn't four axes or `num_iterations` is below 1.

    Differs from the paper: the last update of b, which no output depends on, is left out. Half
    types are computed in float32. The full gradient comes from `RoutingInOneProduct`; it is
    autograd's, up to rounding.

    Source: Sabour, Frosst and Hinton (2017), Procedure 1, Equations 2 and 3.

    >>> u_hat = torch.tensor([3.0, 4.0]).expand(1, 1, 1, 2)  # one child, one parent: c = 1
    >>> torch.allclose(dynamic_routing(u_hat), squash(torch.tensor([3.0, 4.0])))
    True
    """
    if u_hat.ndim != 4:
        raise ValueError(
            "u_hat must have the four axes [batch, child, parent, component], "
            f"got shape {tuple(u_hat.shape)}"
        )
    if num_iterations < 1:
        raise ValueError(f"num_iterations must be at least 1, got {num_iterations}")
    # Precision: autocast would take the sums back to half types.
    with torch.autocast(u_hat.device.type, enabled=False):
        if u_hat.requires_grad and num_iterations > 1 and not (stop_gradient or return_trace):
            # The same numbers as below, with the same gradient in fewer passes over memory.
            by_parent = at_least_float32(u_hat.transpose(1, 2).contiguous())
            return RoutingInOneProduct.apply(by_parent, num_iterations)[0].to(u_hat.dtype)
        trace = _route(at_least_float32(u_hat), num_iterations, stop_gradient)
    v_j = trace[-1].v_j.to(u_hat.dtype)
    if not return_trace:
        return v_j
    return v_j, RoutingTrace(*(torch.stack(steps) for steps in zip(*trace, strict=True)))


def _route(
    u_hat: Tensor,
    num_iterations: int,
    stop_gradient: bool,
) -> list[RoutingTrace]:
    """Run Procedure 1 and return one `RoutingTrace`, without axis `r`, an iteration."""
    # Logits: every image has its own, and they start at zero.
    b_ij = u_hat.new_zeros(u_hat.shape[:3])
    trace = []
    for iteration in range(1, num_iterations + 1):
        # Gradient: with `stop_gradient`, it flows through the last iteration alone.
        last = iteration == num_iterations
        u = u_hat.detach() if stop_gradient and not last else u_hat
        # Coupling: a child shares itself out among the parents, axis 2 (Equation 3).
        c_ij = b_ij.softmax(dim=2)
        # Total input: the coupled sum over the children i (Equation 2).
        s_j = torch.einsum("bij,bijm->bjm", c_ij, u)
        # Output: the same direction, and a length below 1 (Equation 1).
        v_j = squash(s_j)
        trace.append(RoutingTrace(b_ij, c_ij, s_j, v_j))
        # Agreement: how far does the guess point along the parent?
        if not last:
            b_ij = b_ij + torch.einsum("bjm,bijm->bij", v_j, u)
    return trace
