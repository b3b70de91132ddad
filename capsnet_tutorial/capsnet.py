"""The whole network: convolution, primary capsules, digit capsules, decoder, and its loss."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from capsnet_tutorial.config import CapsNetConfig
from capsnet_tutorial.layers import KERNEL_SIZE, DigitCaps, PrimaryCaps
from capsnet_tutorial.margin import margin_loss
from capsnet_tutorial.reconstruction import (
    RECONSTRUCTION_WEIGHT,
    Decoder,
    mask_capsules,
    reconstruction_loss,
)
from capsnet_tutorial.squashing import lengths


class CapsNetOutput(NamedTuple):
    """What a `CapsNet` returns; `reconstruction` is None where there is no decoder."""

    capsules: Float[Tensor, "b k m"]
    lengths: Float[Tensor, "b k"]
    reconstruction: Float[Tensor, "b c h w"] | None


class CapsNet(nn.Module):
    """The network of Figures 1 and 2: image → features → primary → digit capsules → image.

    Args:
        config: its sizes; the paper's by default.

    Source: Sabour, Frosst and Hinton (2017), Section 4, Figures 1 and 2.

    >>> model = CapsNet(CapsNetConfig.small())
    >>> model(torch.zeros(2, 1, 28, 28)).lengths.shape
    torch.Size([2, 10])
    """

    def __init__(self, config: CapsNetConfig | None = None):
        super().__init__()
        self.config = config = config or CapsNetConfig()
        self.conv = nn.Conv2d(config.image_shape[0], config.conv_channels, KERNEL_SIZE)
        self.primary = PrimaryCaps(config.conv_channels, config.primary_types, config.primary_dim)
        self.digit = DigitCaps(
            config.num_primary,
            config.primary_dim,
            config.num_classes,
            config.digit_dim,
            config.num_iterations,
            config.stop_gradient,
        )
        self.decoder = (
            Decoder(config.num_classes, config.digit_dim, config.image_shape)
            if config.reconstruction
            else None
        )

    def forward(
        self,
        images: Shaped[Tensor, "..."],
        labels: Shaped[Tensor, "..."] | None = None,
    ) -> CapsNetOutput:
        """Classify and redraw a batch of images.

        Args:
            images: `[b, c, h, w]` with intensities in [0, 1].
            labels: the classes to redraw, `[b]`; the longest capsule's where None. Give them in
                training.

        Returns:
            The digit capsules `[b, k, m]`, their lengths `[b, k]` and the images drawn from them.

        Raises:
            TypeError: if `images` aren't floating point.
            ValueError: if `images` haven't the configuration's shape.
        """
        expected = self.config.image_shape
        if images.ndim != 4 or tuple(images.shape[1:]) != expected:
            raise ValueError(
                f"this network takes images of shape (batch, "
                f"{', '.join(map(str, expected))}), got {tuple(images.shape)}"
            )
        if not images.is_floating_point():
            raise TypeError(
                f"images must be floating point in [0, 1], got {images.dtype}: use / 255"
            )
        # Capsules: convolution, primary capsules, then routing to one capsule a class.
        capsules = self.digit(self.primary(self.conv(images).relu()))
        # Drawing: from one capsule, the label's in training.
        drawn = self.decode(capsules, labels) if self.decoder else None
        return CapsNetOutput(capsules, lengths(capsules), drawn)

    def decode(
        self, capsules: Float[Tensor, "b k m"], labels: Shaped[Tensor, "..."] | None = None
    ) -> Float[Tensor, "b c h w"]:
        """Draw one class of each image from its capsule; for several digits, call it for each.

        Args:
            capsules: digit capsules `[b, k, m]`.
            labels: the classes to draw, `[b]`; the longest capsule's where None.

        Raises:
            ValueError: if the network has no decoder, or the capsules aren't its own.
        """
        if self.decoder is None:
            raise ValueError("this network has no decoder: build it with reconstruction=True")
        expected = (self.config.num_classes, self.config.digit_dim)
        if capsules.shape[1:] != expected:
            raise ValueError(
                f"this network draws from capsules of shape (batch, {expected[0]}, {expected[1]}), "
                f"got {tuple(capsules.shape)}"
            )
        return self.decoder(mask_capsules(capsules, labels))


class CapsNetLoss(NamedTuple):
    """The total loss and its two terms, `total = margin + 0.0005 · reconstruction`."""

    total: Float[Tensor, ""]
    margin: Float[Tensor, ""]
    reconstruction: Float[Tensor, ""]


def capsnet_loss(
    output: CapsNetOutput,
    images: Float[Tensor, "b c h w"],
    targets: Shaped[Tensor, "..."],
) -> CapsNetLoss:
    r"""Add the weighted reconstruction loss to the margin loss (Section 4.1).

    $$
    L = \sum_k L_k + 0.0005 \sum_{\text{pixels}} (\text{reconstruction} - \text{image})^2
    $$

    Args:
        output: what the network returned for `images` and their labels.
        images: `[b, c, h, w]` with intensities in [0, 1].
        targets: class numbers `[b]` or presence `[b, k]`.

    Returns:
        The total, the margin loss, and the reconstruction loss before its weight (0 without a
        decoder); each a mean over the batch.

    Raises:
        ValueError: if shapes don't fit, a class is out of range or images leave [0, 1], as in
            `margin_loss` and `reconstruction_loss`.

    Source: Sabour, Frosst and Hinton (2017), Section 4.1.

    >>> zeros, image = torch.zeros(1, 10, 16), torch.full((1, 1, 28, 28), 0.5)
    >>> output = CapsNetOutput(zeros, lengths(zeros), torch.zeros_like(image))
    >>> loss = capsnet_loss(output, image, torch.tensor([0]))  # 0.81 + 0.0005 · 196
    >>> [round(term.item(), 3) for term in loss]
    [0.908, 0.81, 196.0]
    """
    margin = margin_loss(output.capsules, targets)
    if output.reconstruction is None:
        return CapsNetLoss(margin, margin, torch.zeros_like(margin))
    # Weight: 784 squared errors would drown the margin loss.
    reconstruction = reconstruction_loss(output.reconstruction, images)
    total = margin + RECONSTRUCTION_WEIGHT * reconstruction
    return CapsNetLoss(total, margin, reconstruction)
