"""Make any picture of one digit what MNIST's are: white on black, 20 pixels high, in the middle."""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image, ImageOps
from torch import Tensor
from torch.nn.functional import interpolate, pad

SIDE = 28
"""Pixels a side of a prepared picture."""

DIGIT_SIDE = 20
"""Pixels of the digit's longer side in it."""

MIDDLE = 14
"""Row and column of its centre of mass, rounded: so are MNIST's own."""

LARGEST_SIDE = 280
"""Larger pictures are shrunk to this first, which averages a photograph's grain away."""

FAINT = 0.15
"""Share of the strongest ink below which a pixel belongs to the ground."""

WEAKEST_CONTRAST = 0.05
"""Difference between ink and ground, of all that 8 bits can tell, below which there is no digit."""


def read_picture(path: str | Path) -> Float[Tensor, "1 28 28"]:
    """Read a picture of one digit, of any size and mode, and make it like MNIST's.

    Args:
        path: a file that Pillow reads: PNG, JPEG, TIFF and others; of several frames the first.

    Returns:
        Intensities in [0, 1].

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no picture, or shows no digit.

    >>> read_picture("nowhere.png")
    Traceback (most recent call last):
    FileNotFoundError: there is no picture at nowhere.png
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no picture at {path}")
    try:
        with Image.open(path) as picture:
            grey = _grey(picture)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        reason = str(error) or type(error).__name__
        raise ValueError(f"{path} is no picture that can be read ({reason})") from None
    try:
        return make_like_mnist(grey)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def make_like_mnist(grey: Float[Tensor, "h w"]) -> Float[Tensor, "1 28 28"]:
    """Cut a digit out of its ground, bring it to MNIST's size, and put its mass in the middle.

    The ground is the tone that half of the edge's pixels don't exceed. Whatever differs more from
    it decides whether the ink is lighter or darker. A photograph needs even light.

    Args:
        grey: one digit, dark on light or light on dark, with intensities in [0, 1].

    Returns:
        The digit in white on black; its longer side has 20 pixels.

    Raises:
        ValueError: if all is of nearly one tone.

    >>> stroke = torch.ones(60, 60).index_fill(1, torch.tensor([7, 8]), 0.0)  # a dark 1, off-centre
    >>> one = make_like_mnist(stroke)[0]
    >>> one.sum(dim=0).nonzero().tolist(), one.sum(dim=1).count_nonzero().item()
    ([[14]], 20)
    """
    grey = _resize(grey, min(1.0, LARGEST_SIDE / max(grey.shape)))
    ground = torch.cat([grey[0], grey[-1], grey[:, 0], grey[:, -1]]).median()
    lighter, darker = grey.max() - ground, ground - grey.min()
    contrast = torch.maximum(lighter, darker)
    if not contrast > WEAKEST_CONTRAST:
        raise ValueError("the picture is of one tone, and shows no digit")
    ink = ((grey - ground if lighter > darker else ground - grey) / contrast).clamp(min=0)
    ink[ink < FAINT] = 0
    rows, columns = (ink.any(dim=axis).nonzero().flatten() for axis in (1, 0))
    digit = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    digit = _resize(digit, DIGIT_SIDE / max(digit.shape))
    digit = (digit / digit.max()).clamp(0, 1)
    return pad(digit, [*_margins(digit, axis=1), *_margins(digit, axis=0)])[None]


def _resize(grey: Float[Tensor, "h w"], scale: float) -> Float[Tensor, "h2 w2"]:
    """Make a picture larger or smaller, each new pixel a mean of old ones."""
    height, width = (max(1, round(scale * side)) for side in grey.shape)
    if width == 1 < height:
        return _resize(grey.T.contiguous(), scale).T  # torch 2.14 mixes up the rows of one column
    size = (height, width)
    return interpolate(grey[None, None], size, mode="bilinear", antialias=True)[0, 0]


def _margins(digit: Float[Tensor, "h w"], axis: int) -> tuple[int, int]:
    """Return how many pixels to add before and behind a digit along an axis."""
    length = digit.shape[axis]
    mass = digit.sum(dim=1 - axis)
    middle = (mass * torch.arange(length)).sum() / mass.sum()
    before = min(max(0, MIDDLE - round(middle.item())), SIDE - length)
    return before, SIDE - length - before


def _grey(picture: Image.Image) -> Float[Tensor, "h w"]:
    """Return a picture's tones in [0, 1], upright, and on a ground where it is transparent."""
    picture = ImageOps.exif_transpose(picture)
    if picture.mode.startswith(("I", "F")):  # 16 or 32 bits, which Pillow's own conversion cuts off
        wide = torch.tensor(np.asarray(picture, dtype=np.float32)).nan_to_num()
        return (wide - wide.min()) / (wide.max() - wide.min()).clamp(min=1e-12)
    if not picture.has_transparency_data:
        return torch.tensor(np.asarray(picture.convert("L"))) / 255
    grey, alpha = (torch.tensor(np.asarray(band)) / 255 for band in picture.convert("LA").split())
    dark = (grey * alpha).sum() <= alpha.sum() / 2
    return grey * alpha + (1 - alpha) * float(dark)
