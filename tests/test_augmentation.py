"""Moving and distorting digits: each in its own way, within limits, losing nothing but the edge."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsnet_tutorial import augmentation, random_shift
from capsnet_tutorial.augmentation import AUGMENTATIONS, affine, move, random_affine


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


def one_matrix(turn=0.0, right=0.0, down=0.0):
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    return torch.tensor([[[cos, -sin, right], [sin, cos, down]]])


@pytest.mark.parametrize("shape", [(1, 1, 28, 28), (1, 2, 9, 7), (1, 1, 6, 8)])
def test_an_affine_map_of_nothing_changes_nothing(shape):
    images = torch.rand(shape)
    torch.testing.assert_close(affine(images, one_matrix()), images, atol=1e-5, rtol=0)


@pytest.mark.parametrize("side", [5, 6])
def test_a_quarter_turn_is_what_turning_the_pixels_gives(side):
    images = torch.rand(1, 1, side, side)
    for turns in (1, 2, 3):
        turned = affine(images, one_matrix(90 * turns))
        torch.testing.assert_close(turned, images.rot90(turns, (2, 3)), atol=1e-5, rtol=0)


def test_whole_pixels_of_an_affine_map_are_a_move_whatever_the_shape():
    images = torch.rand(1, 1, 6, 9)
    moved = move(images, torch.tensor([[[-1]], [[2]]]), 2)
    torch.testing.assert_close(
        affine(images, one_matrix(right=-2, down=1)), moved, atol=1e-5, rtol=0
    )


def test_a_small_turn_is_a_turn_in_a_picture_that_is_no_square_too():
    images = torch.zeros(1, 1, 21, 41)
    images[0, 0, 10, 30] = 1  # ten pixels to the right of the middle
    turned = affine(images, one_matrix(90))
    assert turned[0, 0].argmax().item() == 41 * 0 + 20  # ten pixels above it
    assert turned.sum().item() == pytest.approx(1, abs=1e-4)


def test_random_affine_maps_stay_within_their_limits_and_come_near_them(monkeypatch):
    seen = []
    monkeypatch.setattr(augmentation, "affine", lambda images, maps: seen.append(maps) or images)
    random_affine(torch.zeros(500, 1, 9, 9), torch.Generator().manual_seed(0))
    [maps] = seen
    turn = torch.atan2(maps[:, 1, 0], maps[:, 0, 0])
    cos, sin = turn.cos(), turn.sin()
    back = torch.stack([torch.stack([cos, sin], 1), torch.stack([-sin, cos], 1)], 1)
    straight = back @ maps[:, :, :2]  # [[wider, higher · shear], [0, higher]]
    wider, higher = straight[:, 0, 0], straight[:, 1, 1]
    drawn = {
        "turn": turn.rad2deg() / 10,
        "wider": (wider - 1) / 0.1,
        "higher": (higher - 1) / 0.1,
        "shear": straight[:, 0, 1] / higher / 0.1,
        "right": maps[:, 0, 2] / 2,
        "down": maps[:, 1, 2] / 2,
    }
    for name, values in drawn.items():
        assert 0.95 < values.max() <= 1.0001, name
        assert -0.95 > values.min() >= -1.0001, name
        assert values.mean().abs() < 0.1, name
    together = torch.corrcoef(torch.stack(list(drawn.values()))) - torch.eye(6)
    assert together.abs().max() < 0.15  # each is drawn by itself


def test_each_image_gets_an_affine_map_of_its_own_and_a_seed_repeats_it():
    images = torch.rand(1, 1, 9, 9).expand(20, -1, -1, -1)
    first, again = (random_affine(images, torch.Generator().manual_seed(3)) for _ in range(2))
    assert first.equal(again)
    assert len(first.flatten(1).unique(dim=0)) == 20


def test_affine_maps_fill_with_zeros_and_keep_intensities_in_range():
    white = torch.ones(300, 1, 12, 12)
    moved = random_affine(white, torch.Generator().manual_seed(0))
    assert moved.shape == white.shape
    assert moved.min() == 0
    assert moved.max() == 1  # not above, which the losses would refuse
    assert (moved[:, :, 5:7, 5:7] > 0.999).all()


@pytest.mark.parametrize("name", AUGMENTATIONS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_images_of_other_types_keep_theirs(name, dtype):
    images = torch.rand(6, 1, 9, 9).to(dtype)
    one, other = (
        AUGMENTATIONS[name](part, generator=torch.Generator().manual_seed(0))
        for part in (images, images.float())
    )
    assert one.dtype == dtype
    tolerance = 1e-5 if dtype == torch.float64 else torch.finfo(dtype).eps
    torch.testing.assert_close(one.float(), other, atol=tolerance, rtol=0)


def test_an_intensity_that_rounding_took_out_of_range_is_put_back(monkeypatch):
    beyond = torch.tensor([[[[-1e-7, 1 + 2e-7]]]])
    monkeypatch.setattr(torch.nn.functional, "grid_sample", lambda *_, **__: beyond)
    assert affine(torch.zeros(1, 1, 1, 2), one_matrix()).tolist() == [[[[0, 1]]]]


def test_images_without_a_channel_axis_are_refused():
    with pytest.raises(ValueError, match=r"\[batch, channel, row, column\], got \(2, 28, 28\)"):
        random_shift(torch.zeros(2, 28, 28))
