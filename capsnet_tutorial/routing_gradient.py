r"""Routing with its exact gradient in one product of two thin matrices an image and parent.

Autograd writes a tensor as large as $\hat u$ for each use of $\hat u$, and adds them all up. Here
each use leaves one column and one row instead, and a single matrix product writes their sum. Round
$t$ of $r$ computes, from $b^1_{ij} = 0$ and with $c^t_{ij}$ the softmax of $b^t_{ij}$ over $j$,

$$
s^t_j = \sum_i c^t_{ij}\, \hat u_{j|i}, \qquad
v^t_j = \operatorname{squash}(s^t_j), \qquad
b^{t+1}_{ij} = b^t_{ij} + v^t_j \cdot \hat u_{j|i}
$$

So $\hat u$ is used $r$ times for $s$ and $r - 1$ times for $b$. Write $\partial x$ for the gradient
of the loss with respect to $x$. By the product rule each use adds one term:

$$
\partial \hat u_{j|i} = \sum_{t=1}^{r} c^t_{ij}\, \partial s^t_j
    + \sum_{t=2}^{r} \partial b^t_{ij}\, v^{t-1}_j
$$

Each term is a number that depends on $i$, times a vector that doesn't. For one image and one parent
the sum is a matrix $[i,\, 2r-1]$ times a matrix $[2r-1,\, m]$. Their columns and rows come out of
the rounds in reverse, from the $\partial v^r_j$ that the loss hands down:

$$
\partial c^t_{ij} = \hat u_{j|i} \cdot \partial s^t_j, \qquad
\partial b^t_{ij} = \partial b^{t+1}_{ij}
    + c^t_{ij} \Big(\partial c^t_{ij} - \sum_k c^t_{ik}\, \partial c^t_{ik}\Big), \qquad
\partial v^{t-1}_j = \sum_i \partial b^t_{ij}\, \hat u_{j|i}
$$

with $\partial b^{r+1}_{ij} = 0$, and $\partial s^t_j$ from $\partial v^t_j$ by `squash_gradient`.
The first logits are constants and need no gradient.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from capsnet_tutorial.squashing import squash


def squash_gradient(
    s: Float[Tensor, "*shape m"], grad_v: Float[Tensor, "*shape m"]
) -> Float[Tensor, "*shape m"]:
    r"""Take a gradient back through `squash` along the last axis.

    $$
    \partial s = \frac{\lVert s\rVert}{1 + \lVert s\rVert^2} \left(\partial v
        + \frac{1 - \lVert s\rVert^2}{1 + \lVert s\rVert^2}\, e\, (e \cdot \partial v)\right),
    \qquad e = \frac{s}{\lVert s\rVert}
    $$

    Args:
        s: what was squashed, in float32 or wider.
        grad_v: the gradient with respect to `squash(s)`.

    Returns:
        The gradient with respect to `s`; 0 where `s` is 0.

    >>> s = torch.tensor([3.0, 4.0])  # along s, n² / (1 + n²) grows by 2n / (1 + n²)² = 10/676
    >>> torch.allclose(squash_gradient(s, s / 5), s / 5 * 10 / 676)
    True
    """
    norm = torch.linalg.vector_norm(s, dim=-1, keepdim=True)
    direction = normalize(s, dim=-1, eps=torch.finfo(s.dtype).tiny)
    along = direction * (direction * grad_v).sum(dim=-1, keepdim=True)
    # (1 - n²) / (1 + n²), so written that no large number is divided by another.
    return norm / (1 + norm**2) * (grad_v + (2 / (1 + norm**2) - 1) * along)


def route(u_hat: Float[Tensor, "b j i m"], num_iterations: int) -> tuple[Tensor, Tensor, Tensor]:
    """Run Procedure 1 on predictions that are stored parent by parent.

    The rounds are those of `dynamic_routing`; only the order of the axes differs. So stored, each
    sum over the children reads memory in one go.

    Returns:
        Couplings `[r, b, j, i]`, total inputs `[r, b, j, m]` and outputs `[r, b, j, m]`.
    """
    b_ji = u_hat.new_zeros(u_hat.shape[:3])
    couplings, inputs, outputs = [], [], []
    for iteration in range(1, num_iterations + 1):
        c_ji = b_ji.softmax(dim=1)
        s_j = torch.einsum("bji,bjim->bjm", c_ji, u_hat)
        v_j = squash(s_j)
        couplings.append(c_ji)
        inputs.append(s_j)
        outputs.append(v_j)
        if iteration < num_iterations:
            b_ji = b_ji + torch.einsum("bjm,bjim->bji", v_j, u_hat)
    return torch.stack(couplings), torch.stack(inputs), torch.stack(outputs)


class RoutingInOneProduct(torch.autograd.Function):
    """Route forwards as `route` does, and backwards by the formulas of this module.

    It keeps `u_hat` and the rounds' small tensors for the backward pass, and makes one tensor of
    `u_hat`'s size there: the gradient.

    >>> u_hat = torch.ones(1, 1, 2, 1, requires_grad=True)  # two children, one parent: c = 1, s = 2
    >>> v_j, *_ = RoutingInOneProduct.apply(u_hat, 3)
    >>> v_j.backward(torch.ones(1, 1, 1))
    >>> v_j.detach().flatten(), u_hat.grad.flatten()  # 4/5; 2n / (1 + n²)² = 4/25 for each
    (tensor([0.8000]), tensor([0.1600, 0.1600]))
    """

    generate_vmap_rule = True  # torch.func.vmap

    @staticmethod
    def forward(u_hat: Tensor, num_iterations: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Route `u_hat` `[b, j, i, m]`; return the last outputs, and what `route` returns."""
        c_ji, s_j, v_j = route(u_hat, num_iterations)
        return v_j[-1].clone(), c_ji, s_j, v_j

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: tuple) -> None:
        """Keep what the backward pass needs; only the last outputs carry a gradient."""
        u_hat, ctx.num_iterations = inputs
        rounds = output[1:]
        ctx.mark_non_differentiable(*rounds)
        ctx.save_for_backward(u_hat, *rounds)

    @staticmethod
    def backward(ctx: Any, grad_v: Tensor, *_: Tensor) -> tuple[Tensor, None]:
        """Return the gradient with respect to `u_hat`."""
        u_hat, *rounds = ctx.saved_tensors
        # Autocast would take the sums to half precision here too.
        with torch.autocast(u_hat.device.type, enabled=False):
            if torch.is_grad_enabled():
                # Somebody will differentiate this gradient again (create_graph=True), so it has to
                # know the rounds as functions of u_hat: run them once more while autograd watches.
                rounds = route(u_hat, ctx.num_iterations)
            return gradient_in_one_product(u_hat, *rounds, grad_v), None


def gradient_in_one_product(
    u_hat: Float[Tensor, "b j i m"],
    c_ji: Float[Tensor, "r b j i"],
    s_j: Float[Tensor, "r b j m"],
    v_j: Float[Tensor, "r b j m"],
    grad_v: Float[Tensor, "b j m"],
) -> Float[Tensor, "b j i m"]:
    """Compute the gradient with respect to `u_hat` by the formulas of this module.

    Args:
        u_hat: prediction vectors, parent by parent.
        c_ji: the couplings of all rounds, as `route` returns them.
        s_j: the total inputs.
        v_j: the outputs.
        grad_v: the gradient with respect to the last outputs.
    """
    grad_b = torch.zeros_like(c_ji[0])
    columns, rows = [], []
    for t in reversed(range(len(c_ji))):
        grad_s = squash_gradient(s_j[t], grad_v)
        columns.append(c_ji[t])
        rows.append(grad_s)
        if t > 0:
            grad_c = torch.einsum("bjim,bjm->bji", u_hat, grad_s)
            mean = (c_ji[t] * grad_c).sum(dim=1, keepdim=True)
            grad_b = grad_b + c_ji[t] * (grad_c - mean)
            grad_v = torch.einsum("bji,bjim->bjm", grad_b, u_hat)
            columns.append(grad_b)
            rows.append(v_j[t - 1])
    # For each image and parent, a matrix [i, 2r - 1] times a matrix [2r - 1, m].
    return torch.stack(columns, dim=3) @ torch.stack(rows, dim=2)
