"""Move training digits about, each by its own few pixels."""

from collections.abc import Callable

import torch
from jaxtyping import Int, Shaped
from torch import Tensor


def random_shift(
    images: Shaped[Tensor, "b c h w"],
    max_shift: int = 2,
    generator: torch.Generator | None = None,
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

    Source: Sabour, Frosst and Hinton (2017), Section 5.

    >>> image = torch.zeros(1, 1, 3, 3).index_fill(2, torch.tensor([1]), 1.0)
    >>> random_shift(image, max_shift=0).equal(image)
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


def keep(
    images: Shaped[Tensor, "b c h w"], generator: torch.Generator | None = None
) -> Shaped[Tensor, "b c h w"]:
    """Return the images as they are: no augmentation.

    Args:
        images: `[b, c, h, w]`.
        generator: left alone.

    >>> keep(torch.ones(1, 1, 1, 1))
    tensor([[[[1.]]]])
    """
    return images


AUGMENTATIONS: dict[str, Callable[..., Tensor]] = {"shift": random_shift, "none": keep}
"""What training can do to its images first, by name."""
