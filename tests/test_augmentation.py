"""Moving digits about: by whole pixels, each by its own, losing nothing but the edge."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsnet_tutorial import random_shift
from capsnet_tutorial.augmentation import AUGMENTATIONS


@given(st.integers(1, 3), st.integers(0, 1000))
def test_shift_moves_each_image_by_whole_pixels_within_the_limit(max_shift, seed):
    images = torch.zeros(20, 1, 9, 9)
    images[:, :, 4, 4] = 1
    moved = random_shift(images, max_shift, torch.Generator().manual_seed(seed))
    assert moved.sum().item() == 20
    _, _, rows, columns = moved.nonzero(as_tuple=True)
    assert (rows - 4).abs().max() <= max_shift
    assert (columns - 4).abs().max() <= max_shift


def test_shift_reaches_every_move_and_gives_each_image_its_own():
    images = torch.zeros(500, 1, 9, 9)
    images[:, :, 4, 4] = 1
    _, _, rows, columns = random_shift(images, 2, torch.Generator().manual_seed(0)).nonzero(
        as_tuple=True
    )
    moves = set(zip((rows - 4).tolist(), (columns - 4).tolist(), strict=True))
    assert moves == {(down, right) for down in range(-2, 3) for right in range(-2, 3)}


def test_shift_fills_with_zeros_and_keeps_channels_together():
    images = torch.rand(50, 2, 6, 5)
    images[:, 1] = images[:, 0] * 2
    moved = random_shift(images, 2, torch.Generator().manual_seed(1))
    assert moved.shape == images.shape
    assert moved[:, 1].equal(moved[:, 0] * 2)
    # A picture without a zero pixel gains some at the edges, and no new intensity.
    assert (moved == 0).any()
    for before, after in zip(images, moved, strict=True):
        assert set(after.unique().tolist()) <= {0.0, *before.unique().tolist()}


def test_shift_by_nothing_changes_nothing_and_a_negative_shift_is_refused():
    images = torch.rand(3, 1, 5, 5)
    assert random_shift(images, 0).equal(images)
    with pytest.raises(ValueError, match="negative"):
        random_shift(images, -1)


def test_the_default_is_the_papers_two_pixels():
    image = torch.zeros(400, 1, 9, 9)
    image[:, :, 4, 4] = 1
    _, _, rows, columns = random_shift(image).nonzero(as_tuple=True)
    assert {rows.min().item(), rows.max().item()} == {2, 6}
    assert {columns.min().item(), columns.max().item()} == {2, 6}


def test_no_augmentation_leaves_the_images_alone():
    images = torch.rand(3, 1, 5, 5)
    assert AUGMENTATIONS["none"](images, generator=torch.Generator()) is images
