"""Primary capsules made of neighbouring pixels."""

from jaxtyping import Float
from torch import Tensor

from capsnet_tutorial.layers import PrimaryCaps


def primary_by_view(
    channels: Float[Tensor, "b c y x"],
    dim: int = 8,
) -> Float[Tensor, "b i n"]:
    """Read a convolution's output as capsules in the order in which its numbers lie in memory.

    The fault: memory holds one channel after the other, so a capsule is `dim` neighbouring pixels
    of one channel, and it straddles rows and channels where the grid's width isn't a multiple.

    Args:
        channels: what the convolution made.
        dim: components of a capsule, n.

    Returns:
        The wrong capsules, as many as the right ones.

    >>> import torch
    >>> primary_by_view(torch.arange(16.0).reshape(1, 8, 1, 2))[0, 0]
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    return channels.reshape(len(channels), -1, dim)


class PrimaryCapsByView(PrimaryCaps):
    """`PrimaryCaps` with the bare view, for training beside the right one."""

    def group(self, channels: Float[Tensor, "b c y x"]) -> Float[Tensor, "b i n"]:
        """Read channels as capsules by `primary_by_view`.

        Args:
            channels: what the convolution made.

        Returns:
            The wrong capsules.
        """
        return primary_by_view(channels, channels.shape[1] // self.types)
