"""Keep small grey pictures in a recorded run: one letter a pixel, so that JSON can hold them."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

DARKEST = 15
"""The highest of the sixteen levels that one hexadecimal letter can name."""


def pack_images(images: Float[Tensor, "b c h w"]) -> list[str]:
    """Write each image as hexadecimal letters, row by row, rounded to sixteen levels.

    Args:
        images: intensities in [0, 1].

    Returns:
        A text an image, with a letter a pixel.

    >>> pack_images(torch.tensor([[[[0.0, 1.0], [0.4, 0.6]]]]))
    ['0f69']
    """
    levels = (DARKEST * images).round().int().flatten(1).tolist()
    return ["".join(f"{level:x}" for level in image) for image in levels]


def unpack_images(
    texts: Sequence[str], image_shape: Sequence[int] = (1, 28, 28)
) -> Float[Tensor, "b c h w"]:
    """Read what `pack_images` wrote; each intensity is off by at most a thirtieth.

    Args:
        texts: a text an image.
        image_shape: channels, height and width.

    Raises:
        ValueError: if a text hasn't a letter for each pixel.

    >>> unpack_images(["0f69"], (1, 2, 2))
    tensor([[[[0.0000, 1.0000],
              [0.4000, 0.6000]]]])
    """
    for text in texts:
        if len(text) != math.prod(image_shape):
            raise ValueError(
                f"an image of shape {tuple(image_shape)} needs {math.prod(image_shape)} letters, "
                f"got {len(text)}"
            )
    levels = torch.tensor([[int(letter, 16) for letter in text] for text in texts])
    return levels.reshape(-1, *image_shape) / DARKEST
