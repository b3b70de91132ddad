"""What can be measured on a picture of a digit: how far it leans, how wide it is, how much ink."""

import torch
from jaxtyping import Float
from torch import Tensor

LEAST_INK = 1e-6
"""An image with less ink than this has no slant and no width."""


def slant(images: Float[Tensor, "b 1 h w"]) -> Float[Tensor, " b"]:
    r"""Measure how many pixels a digit moves to the right for each pixel upwards.

    With $x$ to the right, $y$ upwards, and each pixel counting as much as it is bright:

    $$
    \text{slant} = \frac{\operatorname{cov}(x, y)}{\operatorname{var}(y)}
    $$

    Args:
        images: intensities, at least 0.

    Returns:
        0 for an upright stroke, 1 for one that leans to the right by 45 degrees, -1 for one that
        leans to the left as far; 0 for a black image and for a single row.

    >>> slash = torch.eye(5).flip(1).reshape(1, 1, 5, 5)  # like /
    >>> slant(slash)
    tensor([1.])
    """
    _, variance_y, covariance = _moments(images)
    return torch.where(variance_y > 0, covariance / variance_y.clamp(min=LEAST_INK), 0)


def width(images: Float[Tensor, "b 1 h w"]) -> Float[Tensor, " b"]:
    r"""Measure how far a digit spreads sideways around its own slanted axis.

    It is the standard deviation of $x$ that is left when the slant is taken out:

    $$
    \text{width} = \sqrt{\operatorname{var}(x) - \frac{\operatorname{cov}(x, y)^2}
    {\operatorname{var}(y)}}
    $$

    Args:
        images: intensities, at least 0.

    Returns:
        Pixels; 0 for a straight line one pixel wide, however it leans, and for a black image.

    >>> bar = torch.zeros(1, 1, 5, 5)
    >>> bar[..., [1, 3]] = 1  # two upright strokes, each 1 from the middle
    >>> width(bar)
    tensor([1.])
    """
    variance_x, _, covariance = _moments(images)
    return (variance_x - slant(images) * covariance).clamp(min=0).sqrt()


def ink(images: Float[Tensor, "b 1 h w"]) -> Float[Tensor, " b"]:
    """Add up the intensities of an image: for digits of one size, a measure of stroke thickness.

    >>> ink(torch.full((1, 1, 2, 2), 0.5))
    tensor([2.])
    """
    return images.flatten(1).sum(dim=1)


def correlation(x: Float[Tensor, "..."], y: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Compute Pearson's correlation over the first axis.

    Args:
        x: numbers, `[b, ...]`.
        y: as many of them.

    Returns:
        Numbers from -1 to 1: 1 where `y` rises on a straight line with `x`, 0 where a straight
        line says nothing.

    >>> correlation(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([6.0, 4.0, 2.0]))
    tensor(-1.)
    """
    x, y = x - x.mean(dim=0), y - y.mean(dim=0)
    return (x * y).sum(dim=0) / (x.square().sum(dim=0) * y.square().sum(dim=0)).sqrt()


def _moments(
    images: Float[Tensor, "b 1 h w"],
) -> tuple[Float[Tensor, " b"], Float[Tensor, " b"], Float[Tensor, " b"]]:
    """Return var(x), var(y) and cov(x, y) of where the ink is; y points upwards."""
    height, width_ = images.shape[-2:]
    weights = images[:, 0] / ink(images).clamp(min=LEAST_INK)[:, None, None]
    x = torch.arange(width_, dtype=images.dtype, device=images.device)[None, None, :]
    y = -torch.arange(height, dtype=images.dtype, device=images.device)[None, :, None]

    def mean(values: Tensor) -> Tensor:
        return (weights * values).sum(dim=(1, 2), keepdim=True)

    x, y = x - mean(x), y - mean(y)
    return tuple(mean(values).flatten() for values in (x * x, y * y, x * y))
