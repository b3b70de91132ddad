"""Routing over the wrong axis, or with one set of logits for a whole batch."""

import torch
from jaxtyping import Float
from torch import Tensor

from capsnet_tutorial.layers import DigitCaps
from capsnet_tutorial.routing import RoutingTrace
from capsnet_tutorial.squashing import squash

CHILDREN = 1
"""An axis of the routing logits `[b, i, j]`; a softmax over it is the mistake."""

PARENTS = 2
"""The axis over which the paper's softmax runs."""


def route(
    u_hat: Float[Tensor, "b i j m"], softmax_dims: list[int], share_batch: bool = False
) -> list[RoutingTrace]:
    """Run Procedure 1 with one softmax axis an iteration: 2 is the parents', 1 the children's.

    Args:
        u_hat: prediction vectors.
        softmax_dims: the axis of each iteration, `PARENTS` or `CHILDREN`.
        share_batch: average the agreement over the batch.

    Returns:
        A trace an iteration; the last one's `v_j` is the output.
    """
    b_ij = u_hat.new_zeros(u_hat.shape[:3])
    trace = []
    for dim in softmax_dims:
        c_ij = b_ij.softmax(dim=dim)
        s_j = torch.einsum("bij,bijm->bjm", c_ij, u_hat)
        v_j = squash(s_j)
        trace.append(RoutingTrace(b_ij, c_ij, s_j, v_j))
        agreement = torch.einsum("bjm,bijm->bij", v_j, u_hat)
        b_ij = b_ij + (agreement.mean(dim=0, keepdim=True) if share_batch else agreement)
    return trace


def routing_over_children(
    u_hat: Float[Tensor, "b i j m"], num_iterations: int = 3
) -> list[RoutingTrace]:
    """Route with the softmax over the children: each parent shares itself out, not each child.

    Args:
        u_hat: prediction vectors.
        num_iterations: routing iterations.

    Returns:
        A trace an iteration; the last one's `v_j` is the output.
    """
    return route(u_hat, [CHILDREN] * num_iterations)


def routing_over_children_but_last(
    u_hat: Float[Tensor, "b i j m"], num_iterations: int = 4
) -> list[RoutingTrace]:
    """Route with the softmax over the children in all iterations but the last.

    Args:
        u_hat: prediction vectors.
        num_iterations: routing iterations, the last one included.

    Returns:
        A trace an iteration; the last one's `v_j` is the output.
    """
    return route(u_hat, [CHILDREN] * (num_iterations - 1) + [PARENTS])


def routing_shared_over_batch(
    u_hat: Float[Tensor, "b i j m"], num_iterations: int = 3
) -> list[RoutingTrace]:
    """Route with agreement averaged over the batch: an image's output depends on its neighbours.

    Args:
        u_hat: prediction vectors.
        num_iterations: routing iterations.

    Returns:
        A trace an iteration; the last one's `v_j` is the output.
    """
    return route(u_hat, [PARENTS] * num_iterations, share_batch=True)


class DigitCapsOverChildren(DigitCaps):
    """`DigitCaps` with the softmax over the children, for training beside the right one."""

    def forward(self, u: Float[Tensor, "b i n"]) -> Float[Tensor, "b j m"]:
        """Turn children `[b, i, n]` into parents `[b, j, m]`, sharing out the wrong side.

        Args:
            u: the children's outputs.

        Returns:
            The parents' outputs.
        """
        return routing_over_children(self.predict(u), self.num_iterations)[-1].v_j
