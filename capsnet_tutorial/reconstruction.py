"""Reconstruction as a regulariser: draw the digit again from the capsule that stands for it."""

import math

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from capsnet_tutorial.squashing import at_least_float32, lengths

RECONSTRUCTION_WEIGHT = 0.0005
"""Weight of the summed squared error beside the margin loss (Section 4.1)."""

HIDDEN_UNITS = (512, 1024)
"""Units of the decoder's two hidden layers (Figure 2)."""


def mask_capsules(
    v_j: Shaped[Tensor, "..."], labels: Shaped[Tensor, "..."] | None = None
) -> Float[Tensor, "b k m"]:
    """Keep one capsule an image and set all others to zero (Section 4.1).

    In training the label chooses, so that each capsule learns to draw its own class whatever the
    network believes. Without labels the longest capsule is kept: the network's prediction.

    Args:
        v_j: one capsule a class, `[b, k, m]`.
        labels: class numbers `[b]`, or None to keep the longest capsule.

    Returns:
        Capsules of the same shape and type. The zeroed ones carry no gradient.

    Raises:
        ValueError: if the shapes don't fit or a label is out of range; labels on a GPU are not
            looked at, since that would make each step wait.

    Differs from the paper: it speaks of the true label only; the longest capsule is what is left
    where there is none.

    Source: Sabour, Frosst and Hinton (2017), Section 4.1.

    >>> v_j = torch.tensor([[[1.0], [3.0], [2.0]]])  # one image, three classes
    >>> mask_capsules(v_j).flatten(), mask_capsules(v_j, torch.tensor([0])).flatten()
    (tensor([0., 3., 0.]), tensor([1., 0., 0.]))
    """
    if v_j.ndim != 3:
        raise ValueError(
            f"v_j must have the axes [batch, class, component], got {tuple(v_j.shape)}"
        )
    batch_size, num_classes, _ = v_j.shape
    # Choice: the label's capsule, or else the longest.
    if labels is None:
        labels = lengths(v_j).argmax(dim=1)
    elif labels.shape != (batch_size,) or labels.is_floating_point() or labels.dtype == torch.bool:
        raise ValueError(
            f"labels must be integer class numbers of shape ({batch_size},), "
            f"got {labels.dtype} of shape {tuple(labels.shape)}"
        )
    elif labels.device.type == "cpu" and ((labels < 0) | (labels >= num_classes)).any():
        raise ValueError(
            f"labels must lie between 0 and {num_classes - 1}, got {labels.min()} to {labels.max()}"
        )
    # Mask: true at one class an image; the others become zero.
    kept = labels.unsqueeze(1) == torch.arange(num_classes, device=v_j.device)
    return v_j.masked_fill(~kept.unsqueeze(2), 0)


class Decoder(nn.Module):
    """Draw images from masked capsules with three fully connected layers (Figure 2).

    Args:
        num_classes: capsules an image, k.
        digit_dim: components a capsule, m.
        image_shape: channels, height and width of the images.

    Differs from the paper: nothing; for 10 capsules of 16 and 28×28 images the layers are
    160 → 512 → 1024 → 784.

    Source: Sabour, Frosst and Hinton (2017), Section 4.1, Figure 2.

    >>> decoder = Decoder(num_classes=10, digit_dim=16, image_shape=(1, 28, 28))
    >>> decoder(torch.zeros(2, 10, 16)).shape
    torch.Size([2, 1, 28, 28])
    """

    def __init__(
        self,
        num_classes: int,
        digit_dim: int,
        image_shape: tuple[int, int, int],
    ):
        super().__init__()
        first, second = HIDDEN_UNITS
        # Layers: all capsules end to end, two hidden layers, and a pixel each between 0 and 1.
        self.layers = nn.Sequential(
            nn.Flatten(),
            nn.Linear(num_classes * digit_dim, first),
            nn.ReLU(),
            nn.Linear(first, second),
            nn.ReLU(),
            nn.Linear(second, math.prod(image_shape)),
            nn.Sigmoid(),
            nn.Unflatten(1, image_shape),
        )

    def forward(self, masked: Float[Tensor, "b k m"]) -> Float[Tensor, "b c h w"]:
        """Decode masked capsules `[b, k, m]` into images `[b, c, h, w]` with values in [0, 1]."""
        return self.layers(masked)


def reconstruction_loss(
    reconstruction: Shaped[Tensor, "..."], images: Shaped[Tensor, "..."]
) -> Float[Tensor, ""]:
    r"""Sum the squared errors of each image's pixels and average over the batch (Section 4.1).

    $$
    \frac{1}{B} \sum_{b} \sum_{\text{pixels}} (\text{reconstruction} - \text{image})^2
    $$

    Args:
        reconstruction: the decoder's images `[b, c, h, w]`.
        images: the images to match, of the same shape, with intensities in [0, 1].

    Returns:
        A number, at least 0, in float32 or wider. It is **not** yet multiplied by
        `RECONSTRUCTION_WEIGHT`.

    Raises:
        TypeError: if either isn't floating point.
        ValueError: if the shapes differ, the batch is empty, or `images` leave [0, 1], where no
            sigmoid output can follow; images on a GPU are not looked at, since that would make each
            step wait.

    Differs from the paper: it gives the loss of one image; this is the mean over a batch.

    Source: Sabour, Frosst and Hinton (2017), Section 4.1.

    >>> reconstruction_loss(torch.zeros(3, 1, 28, 28), torch.full((3, 1, 28, 28), 0.5))
    tensor(196.)
    """
    if reconstruction.shape != images.shape or len(images) == 0:
        raise ValueError(
            "reconstruction and images must have the same shape and hold at least one image, "
            f"got {tuple(reconstruction.shape)} and {tuple(images.shape)}"
        )
    # So written, it refuses NaN too.
    if images.device.type == "cpu" and not (images.min() >= 0 and images.max() <= 1):
        raise ValueError(
            f"images must lie between 0 and 1, got {images.min():.3g} to {images.max():.3g}: "
            "divide bytes by 255, and don't normalise to mean 0"
        )
    # Sum: over the pixels; the mean is over the images.
    error = at_least_float32(reconstruction) - at_least_float32(images)
    return error.square().flatten(1).sum(dim=1).mean()
