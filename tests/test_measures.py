"""Measures of a picture: known for drawn lines, and changed only by what they measure."""

import math

import pytest
import torch

from capsnet_tutorial.measures import correlation, ink, slant, width

MEASURES = [slant, width, ink]


def stroke(lean, thick=1.0, centre=20.0, rows=range(10, 31)):
    """Draw a soft stroke that moves `lean` pixels to the right for each pixel upwards."""
    y = torch.arange(41, dtype=torch.float64)[:, None]
    x = torch.arange(41, dtype=torch.float64)[None, :]
    on_line = centre + lean * (20 - y)
    image = torch.exp(-(((x - on_line) / thick) ** 2) / 2)
    kept = torch.zeros_like(y)
    kept[list(rows)] = 1
    return (image * kept)[None, None]


@pytest.mark.parametrize("lean", [-0.6, 0.0, 0.3, 0.6])
def test_slant_is_how_far_a_stroke_moves_to_the_right_for_each_pixel_up(lean):
    assert slant(stroke(lean)).item() == pytest.approx(lean, abs=1e-3)
    assert slant(stroke(lean).flip(3)).item() == pytest.approx(-lean, abs=1e-3)


@pytest.mark.parametrize("lean", [-0.6, 0.0, 0.6])
@pytest.mark.parametrize("thick", [1.0, 2.0])
def test_width_is_a_stroke_s_spread_however_it_leans(lean, thick):
    assert width(stroke(lean, thick)).item() == pytest.approx(thick, rel=1e-3)


def test_ink_is_a_sum():
    image = torch.rand(3, 1, 4, 5)
    torch.testing.assert_close(ink(image), image.sum(dim=(1, 2, 3)))


@pytest.mark.parametrize("measure", [slant, width])
def test_neither_place_nor_brightness_matters_to_shape(measure):
    image = stroke(0.4, 1.5)
    moved = torch.roll(image, (3, -2), dims=(2, 3))
    torch.testing.assert_close(measure(moved), measure(image))
    torch.testing.assert_close(measure(image / 2), measure(image))


@pytest.mark.parametrize("measure", MEASURES)
def test_images_of_a_batch_are_measured_apart(measure):
    batch = torch.cat([stroke(0.5), stroke(0.0, 2.0), torch.zeros(1, 1, 41, 41).double()])
    each = torch.cat([measure(image[None]) for image in batch])
    torch.testing.assert_close(measure(batch), each)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_black_image_measures_0(measure):
    assert measure(torch.zeros(2, 1, 5, 5)).tolist() == [0, 0]


def test_a_single_row_has_no_slant():
    row = torch.zeros(1, 1, 5, 5)
    row[..., 2, 1:4] = 1
    assert slant(row) == 0
    assert width(row).item() == pytest.approx(math.sqrt(2 / 3))


def test_correlation_is_pearson_s_for_each_column():
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(30, 4, generator=generator), torch.randn(30, 1, generator=generator)
    expected = [torch.corrcoef(torch.stack([x[:, k], y[:, 0]]))[0, 1] for k in range(4)]
    torch.testing.assert_close(correlation(x, y), torch.stack(expected))
    torch.testing.assert_close(correlation(2 * x + 5, y), correlation(x, y))
    torch.testing.assert_close(correlation(-x, y), -correlation(x, y))
