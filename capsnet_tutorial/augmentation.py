"""Move training digits about, or distort them, each in a way of its own."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor


def random_shift(
    images: Shaped[Tensor, "..."],
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
        ValueError: if `max_shift` is negative or `images` haven't four axes.

    Source: Sabour, Frosst and Hinton (2017), Section 5.

    >>> image = torch.zeros(1, 1, 3, 3).index_fill(2, torch.tensor([1]), 1.0)
    >>> random_shift(image, max_shift=0).equal(image)
    True
    """
    if images.ndim != 4:
        raise ValueError(
            f"images must have the axes [batch, channel, row, column], got {tuple(images.shape)}"
        )
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


MAX_TURN = math.radians(10)
MAX_STRETCH = 0.1
MAX_SHEAR = 0.1
MAX_SHIFT = 2.0
"""What `random_affine` does at most: an angle, two ratios, and pixels."""


def random_affine(
    images: Float[Tensor, "b c h w"], generator: torch.Generator | None = None
) -> Float[Tensor, "b c h w"]:
    """Turn, stretch, shear and shift each image a little, filling with zeros.

    Each image gets an angle of up to 10 degrees, a stretch of about 10% at most along each axis, a
    shear of up to a tenth of a pixel a pixel, and a shift of about two pixels at most in each
    direction. All six are drawn evenly.

    Args:
        images: intensities in [0, 1].
        generator: what to draw from, best on the images' device; torch's own by default.

    Returns:
        The distorted images. What is pushed over the edge is lost.

    Differs from the paper: it only shifts, see `random_shift`. These distortions are ours, and how
    large they are was not tuned.

    >>> random_affine(torch.zeros(2, 1, 28, 28)).sum()
    tensor(0.)
    """
    device = generator.device if generator else images.device
    drawn = 2 * torch.rand(6, len(images), generator=generator, device=device) - 1
    turn, wider, higher, shear, right, down = drawn.to(images.device)
    cos, sin = (MAX_TURN * turn).cos(), (MAX_TURN * turn).sin()
    wider, higher, shear = 1 + MAX_STRETCH * wider, 1 + MAX_STRETCH * higher, MAX_SHEAR * shear
    # A turn, after a shear, after a stretch: `[[cos, -sin], [sin, cos]] [[1, shear], [0, 1]]` diag.
    across = [wider * cos, higher * (shear * cos - sin), MAX_SHIFT * right]
    along = [wider * sin, higher * (shear * sin + cos), MAX_SHIFT * down]
    matrices = torch.stack([torch.stack(across, dim=1), torch.stack(along, dim=1)], dim=1)
    return affine(images, matrices)


def affine(
    images: Float[Tensor, "b c h w"], matrices: Float[Tensor, "b 2 3"]
) -> Float[Tensor, "b c h w"]:
    r"""Draw each image anew, each pixel taken from another place, filling with zeros.

    With $(x, y)$ in pixels to the right of and below the middle, the pixel there takes the
    intensity at $A \, (x, y, 1)$, interpolated between the four pixels around it.

    Args:
        images: intensities in [0, 1].
        matrices: A for each image.

    Returns:
        The images drawn anew, of the same shape and type.

    >>> image, turn = torch.eye(2).reshape(1, 1, 2, 2), torch.tensor([[[0.0, -1, 0], [1, 0, 0]]])
    >>> affine(image, turn)[0, 0]  # a quarter turn
    tensor([[0., 1.],
            [1., 0.]])
    """
    height, width = images.shape[2:]
    wide = torch.promote_types(images.dtype, matrices.dtype)  # float16 has too few digits
    # `affine_grid` measures in half widths and half heights.
    half = torch.tensor([width / 2, height / 2, 1.0], device=images.device)
    grid = torch.nn.functional.affine_grid(
        matrices.to(wide) * half / half[:2, None], list(images.shape), align_corners=False
    )
    moved = torch.nn.functional.grid_sample(images.to(wide), grid, align_corners=False)
    return moved.clamp(0, 1).to(images.dtype)  # rounding may leave it by a last bit


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


AUGMENTATIONS: dict[str, Callable[..., Tensor]] = {
    "shift": random_shift,
    "affine": random_affine,
    "none": keep,
}
"""What training can do to its images first, by name."""
