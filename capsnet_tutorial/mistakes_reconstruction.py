"""Reconstruction losses that are too weak, and drawings of the wrong capsule."""

from jaxtyping import Float, Shaped
from torch import Tensor

from capsnet_tutorial.capsnet import CapsNet, CapsNetLoss, CapsNetOutput, capsnet_loss
from capsnet_tutorial.reconstruction import RECONSTRUCTION_WEIGHT


def reconstruction_mean(
    reconstruction: Float[Tensor, "b c h w"], images: Float[Tensor, "b c h w"]
) -> Float[Tensor, ""]:
    """Average the squared errors over the pixels too, as `torch.nn.MSELoss` does.

    The fault: with 784 pixels it is 1/784 of the paper's sum, and the weight of 0.0005 makes
    nearly nothing of it.

    Args:
        reconstruction: what the decoder drew.
        images: what it should have drawn.

    Returns:
        The mean over pixels and batch.

    >>> import torch
    >>> reconstruction_mean(torch.zeros(3, 1, 28, 28), torch.full((3, 1, 28, 28), 0.5))  # not 196
    tensor(0.2500)
    """
    return (reconstruction - images).square().mean()


def loss_with_mean(
    output: CapsNetOutput, images: Float[Tensor, "b c h w"], targets: Shaped[Tensor, "..."]
) -> CapsNetLoss:
    """Take the network's loss with `reconstruction_mean` in its total.

    Args:
        output: what the network returned for `images` and their labels.
        images: `[b, c, h, w]` with intensities in [0, 1].
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The total with the fault, and the two terms as they should be, to be compared.
    """
    right = capsnet_loss(output, images, targets)
    mean = reconstruction_mean(output.reconstruction, images)
    return right._replace(total=right.margin + RECONSTRUCTION_WEIGHT * mean)


class CapsNetDrawingItsGuess(CapsNet):
    """`CapsNet` that draws from its longest capsule in training, too.

    The fault: as long as the network guesses wrongly, a capsule of another class learns to draw
    the digit, and the true one learns nothing from it.
    """

    def decode(
        self, capsules: Float[Tensor, "b k m"], labels: Shaped[Tensor, "..."] | None = None
    ) -> Float[Tensor, "b c h w"]:
        """Draw the longest capsule's class, whatever `labels` say.

        Args:
            capsules: digit capsules.
            labels: left alone.

        Returns:
            The images drawn.
        """
        return super().decode(capsules)
