"""The two layers of capsules: primary capsules out of channels, digit capsules by routing."""

import math

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from capsnet_tutorial.routing import dynamic_routing
from capsnet_tutorial.squashing import squash

KERNEL_SIZE = 9
"""Side of both convolutions' kernels (Section 4)."""

PRIMARY_STRIDE = 2
"""Stride of the primary capsules' convolution (Section 4)."""


class PrimaryCaps(nn.Module):
    r"""Make capsules out of channels: one type at one place is one capsule (Section 4).

    A 9×9 convolution with stride 2 and no ReLU, whose output $[b,\, t \cdot n,\, y,\, x]$ is read
    as capsules of type $t$ at row $y$ and column $x$, and squashed.

    Args:
        in_channels: channels of the feature map below.
        types: capsule types, t.
        dim: components of a capsule, n.

    Raises:
        ValueError: if a number is below 1.

    Source: Sabour, Frosst and Hinton (2017), Section 4.

    >>> PrimaryCaps(in_channels=4, types=2, dim=8)(torch.zeros(1, 4, 20, 20)).shape
    torch.Size([1, 72, 8])
    """

    def __init__(self, in_channels: int, types: int, dim: int):
        super().__init__()
        if min(in_channels, types, dim) < 1:
            raise ValueError(
                "numbers of channels, types and components must be at least 1, got "
                f"{(in_channels, types, dim)}"
            )
        self.types = types
        self.conv = nn.Conv2d(in_channels, types * dim, KERNEL_SIZE, PRIMARY_STRIDE)

    def group(self, channels: Float[Tensor, "b c y x"]) -> Float[Tensor, "b i n"]:
        """Read channels `[b, t·n, y, x]` as capsules `[b, i, n]`, i = (type, row, column).

        Args:
            channels: what the convolution made, a type's channels side by side.

        Returns:
            The capsules, not squashed yet.
        """
        # Channels 8t to 8t + 7 at one place are one capsule; a bare view would take eight
        # neighbouring pixels of one channel instead.
        return rearrange(channels, "b (t n) y x -> b (t y x) n", t=self.types)

    def forward(self, features: Float[Tensor, "b c h w"]) -> Float[Tensor, "b i n"]:
        """Turn features `[b, c, h, w]` into squashed capsules `[b, i, n]`.

        Args:
            features: the feature map below.

        Returns:
            The primary capsules.
        """
        return squash(self.group(self.conv(features)))


class DigitCaps(nn.Module):
    r"""Predict every parent from every child, and route the predictions (Section 2).

    $$
    \hat{u}_{j|i} = W_{ij}\, u_i, \qquad v = \operatorname{routing}(\hat{u})
    $$

    Args:
        num_below: children, i.
        dim_below: components of a child, n.
        num_above: parents, j.
        dim_above: components of a parent, m.
        num_iterations: routing iterations.
        stop_gradient: let routing carry gradients in its last iteration only.

    The initial scale matters as much as the softmax's axis. At first every coupling is 1/j, so a
    parent's total input has the mean square length std² · m · i / j² times a child's mean square
    length. `WEIGHT_GAIN` fixes the root of that factor, so std falls with the root of the number of
    children: with one std for all sizes, capsules start near 0 in a small network, or near 1 in a
    large one, and the margin loss has hardly a gradient at either end.

    Raises:
        ValueError: if a number is below 1.

    Source: Sabour, Frosst and Hinton (2017), Section 2, Equation 2, and Section 4.

    Differs from the paper: it says nothing of W's first values.

    >>> DigitCaps(num_below=6, dim_below=8, num_above=3, dim_above=4)(torch.zeros(2, 6, 8)).shape
    torch.Size([2, 3, 4])
    """

    WEIGHT_GAIN = 1.5

    def __init__(
        self,
        num_below: int,
        dim_below: int,
        num_above: int,
        dim_above: int,
        num_iterations: int = 3,
        stop_gradient: bool = False,
    ):
        super().__init__()
        if min(num_below, dim_below, num_above, dim_above, num_iterations) < 1:
            raise ValueError(
                "numbers of capsules, components and iterations must be at least 1, got "
                f"{(num_below, dim_below, num_above, dim_above, num_iterations)}"
            )
        self.num_iterations = num_iterations
        self.stop_gradient = stop_gradient
        # Spread: it falls with the root of the number of children, whose votes add up.
        std = self.WEIGHT_GAIN * num_above / math.sqrt(num_below * dim_above)
        shape = (num_below, num_above, dim_above, dim_below)
        self.weight = nn.Parameter(std * torch.randn(shape))

    def predict(self, u: Float[Tensor, "b i n"]) -> Float[Tensor, "b i j m"]:
        """Compute the prediction vectors û (Equation 2), for `u` `[b, i, n]`.

        Args:
            u: the children's outputs.

        Returns:
            What each child predicts for each parent, `[b, i, j, m]`.
        """
        # Axis `n` is missing behind the arrow: it is summed over.
        return torch.einsum("ijmn,bin->bijm", self.weight, u)

    def forward(self, u: Float[Tensor, "b i n"]) -> Float[Tensor, "b j m"]:
        """Turn children `[b, i, n]` into parents `[b, j, m]`.

        Args:
            u: the children's outputs.

        Returns:
            The parents' outputs, after the last routing iteration.

        Raises:
            ValueError: if there are other than this layer's children, or of another size.
        """
        children, _, _, components = self.weight.shape
        if u.shape[1:] != (children, components):
            raise ValueError(
                f"u must be [batch, {children} children, {components} components], "
                f"got shape {tuple(u.shape)}"
            )
        return dynamic_routing(
            self.predict(u), self.num_iterations, stop_gradient=self.stop_gradient
        )
