"""Judge a capsule network: its loss, and how many digits it classifies correctly."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from capsnet_tutorial.capsnet import CapsNet, CapsNetLoss, CapsNetOutput, capsnet_loss
from capsnet_tutorial.data import Digits, check_digits
from capsnet_tutorial.devices import choose_device


class Evaluation(NamedTuple):
    """How a network does on some digits; `lengths` are its digit capsules', `[b, k]`."""

    loss: float
    accuracy: float
    lengths: Float[Tensor, "b k"]


@torch.no_grad()
def evaluate(
    model: CapsNet,
    data: Digits,
    batch_size: int = 250,
    device: torch.device | str | None = None,
) -> Evaluation:
    """Classify digits by their longest capsule, and take the mean loss with the true labels.

    Args:
        model: a network; it is left in evaluation mode, on the device.
        data: the digits to classify.
        batch_size: images at a time. Beyond rounding it has no influence on the result.
        device: where to compute; by default a CUDA GPU if there is one, else the CPU.

    Returns:
        The mean loss over all digits, the share classified correctly, and all lengths, on the CPU.

    Raises:
        ValueError: if there are no digits, `batch_size` is below 1, images aren't of the network's
            shape or leave [0, 1], or a label is no class of the network.
        TypeError: if the labels aren't integers, or the images aren't of the weights' type.

    Source: Sabour, Frosst and Hinton (2017), Section 3: the longest capsule is the prediction.

    >>> from capsnet_tutorial import CapsNetConfig
    >>> model = CapsNet(CapsNetConfig.small(image_shape=(1, 17, 17), num_classes=1))
    >>> digits = Digits(torch.zeros(3, 1, 17, 17), torch.zeros(3, dtype=torch.int64))
    >>> evaluate(model, digits).accuracy  # there is but one class
    1.0
    """
    check_fit(model, data)
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")
    device = choose_device(model, device)
    model.to(device).eval()
    losses, lengths = [], []
    for images, labels in zip(*(part.split(batch_size) for part in data), strict=True):
        output, loss = predict_and_score(model, images.to(device), labels.to(device))
        losses.append(len(labels) * loss.total)
        lengths.append(output.lengths)
    lengths = torch.cat(lengths).cpu()
    correct = (lengths.argmax(dim=1) == data.labels.cpu()).float().mean().item()
    return Evaluation(torch.stack(losses).sum().item() / len(data.labels), correct, lengths)


def check_fit(model: CapsNet, data: Digits) -> None:
    """Refuse digits that a network can't read, before anything is computed or written.

    Args:
        model: the network.
        data: images and labels.

    Raises:
        ValueError: if images aren't of the network's shape, and as in `check_digits`.
        TypeError: if the images aren't of the weights' type, or the labels aren't integers.

    >>> from capsnet_tutorial import CapsNetConfig
    >>> digits = Digits(torch.zeros(1, 1, 32, 32), torch.tensor([0]))
    >>> check_fit(CapsNet(CapsNetConfig.small()), digits)
    Traceback (most recent call last):
    ValueError: this network takes images of shape (1, 28, 28), got (1, 32, 32)
    """
    expected, shape = model.config.image_shape, tuple(data.images.shape[1:])
    if shape != expected:
        raise ValueError(f"this network takes images of shape {expected}, got {shape}")
    check_digits(data, model.config.num_classes)
    dtype = model.conv.weight.dtype
    if data.images.dtype != dtype:
        raise TypeError(
            f"images must be {dtype} as the network's weights are, got {data.images.dtype}: "
            f"use .to({dtype})"
        )


def predict_and_score(
    model: torch.nn.Module,
    images: Float[Tensor, "b c h w"],
    labels: Shaped[Tensor, " b"],
    mixed_precision: bool = False,
) -> tuple[CapsNetOutput, CapsNetLoss]:
    """Run the network on images, its decoder on the true labels' capsules, and take the loss.

    Args:
        model: a `CapsNet`.
        images: intensities in [0, 1], on the network's device.
        labels: the true classes.
        mixed_precision: run convolutions and matrix products in bfloat16. Squash, routing and the
            losses stay in float32.

    Returns:
        The network's output and the loss.
    """
    with torch.autocast(images.device.type, torch.bfloat16, enabled=mixed_precision):
        output = model(images, labels)
        return output, capsnet_loss(output, images, labels)
