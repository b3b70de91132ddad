"""How large a capsule network is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from capsnet_tutorial.layers import KERNEL_SIZE, PRIMARY_STRIDE

SMALLEST_SIDE = 2 * KERNEL_SIZE - 1
"""An image needs this many pixels a side for one primary capsule of each type."""


@dataclass(frozen=True)
class CapsNetConfig:
    """Say how large a `CapsNet` is; the defaults are the paper's MNIST model.

    Args:
        image_shape: channels, height and width; each side at least 17 pixels.
        num_classes: digit capsules.
        conv_channels: channels of the first convolution.
        primary_types: types of primary capsules, each a capsule at every grid position.
        primary_dim: components of a primary capsule, n.
        digit_dim: components of a digit capsule, m.
        num_iterations: routing iterations, r.
        stop_gradient: let routing carry gradients in its last iteration only.
        reconstruction: whether there is a decoder.

    Raises:
        ValueError: if a size is no whole number of at least 1, an image is too small for one
            primary capsule, or a choice is neither True nor False.

    Source: Sabour, Frosst and Hinton (2017), Section 4; the small model is ours.

    >>> CapsNetConfig().num_primary  # 32 types on a 6×6 grid
    1152
    >>> CapsNetConfig(image_shape=(1, 28, 16))
    Traceback (most recent call last):
    ValueError: images must be at least 17×17 pixels, got 28×16
    """

    image_shape: Sequence[int] = (1, 28, 28)
    num_classes: int = 10
    conv_channels: int = 256
    primary_types: int = 32
    primary_dim: int = 8
    digit_dim: int = 16
    num_iterations: int = 3
    stop_gradient: bool = False
    reconstruction: bool = True

    def __post_init__(self):
        if isinstance(self.image_shape, Sequence):
            # A list, as JSON gives it back, is as good as a tuple.
            object.__setattr__(self, "image_shape", tuple(self.image_shape))
        if not isinstance(self.image_shape, tuple) or len(self.image_shape) != 3:
            raise ValueError(
                f"image_shape must be (channels, height, width), got {self.image_shape}"
            )
        channels, height, width = self.image_shape
        sizes = {
            "channels of image_shape": channels,
            "height of image_shape": height,
            "width of image_shape": width,
            "num_classes": self.num_classes,
            "conv_channels": self.conv_channels,
            "primary_types": self.primary_types,
            "primary_dim": self.primary_dim,
            "digit_dim": self.digit_dim,
            "num_iterations": self.num_iterations,
        }
        for name, size in sizes.items():
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {size!r}")
        for name in ("stop_gradient", "reconstruction"):
            if getattr(self, name) not in (True, False):
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if min(height, width) < SMALLEST_SIDE:
            raise ValueError(
                f"images must be at least {SMALLEST_SIDE}×{SMALLEST_SIDE} pixels, "
                f"got {height}×{width}"
            )

    @classmethod
    def small(cls, **changes) -> "CapsNetConfig":
        """Return a model for CPUs: 64 channels and 8 primary types, otherwise the paper's.

        >>> CapsNetConfig.small().num_primary
        288
        """
        return cls(**{"conv_channels": 64, "primary_types": 8} | changes)

    @property
    def grid_shape(self) -> tuple[int, int]:
        """Height and width of the primary capsules' grid.

        >>> CapsNetConfig().grid_shape
        (6, 6)
        """
        _, height, width = self.image_shape
        rows = (height - SMALLEST_SIDE) // PRIMARY_STRIDE + 1
        columns = (width - SMALLEST_SIDE) // PRIMARY_STRIDE + 1
        return rows, columns

    @property
    def num_primary(self) -> int:
        """Number of primary capsules, i: every type at every grid position."""
        return self.primary_types * math.prod(self.grid_shape)
