"""The pictures of the margin loss: at home in any page, with texts made from their data."""

import re

import pytest
import torch

from capsnet_tutorial import pictures
from capsnet_tutorial.plotting_margin import (
    first_steps,
    margin_curves,
    margin_slopes,
    pull_balance,
)

LENGTH = torch.linspace(0, 1, 101)
SHORT, LONG = (0.9 - LENGTH).clamp(min=0), (LENGTH - 0.1).clamp(min=0)
SLOPES = torch.stack([-2 * SHORT, LONG])
DRAW = {
    "margin-curves": lambda: margin_curves(LENGTH, SHORT**2, 0.5 * LONG**2),
    "margin-slopes": lambda: margin_slopes(LENGTH, SLOPES, SLOPES.sign()),
    "pull-balance": lambda: pull_balance(LENGTH, 2 * SHORT, {0.5: 9 * LONG, 1.0: 18 * LONG}),
    "first-steps": lambda: first_steps(
        {0.5: ([0.02, 0.8, 0.6], [0.01, 0.7, 0.2]), 1.0: ([0.02, 0.8, 0.5], [0.01, 0.7, 0.1])},
        {0.5: 0.245, 1.0: 0.18},
    ),
}


@pytest.fixture(params=DRAW)
def name(request):
    return request.param


@pytest.fixture
def picture(name):
    return DRAW[name]()


def test_drawing_again_gives_the_same_bytes(name, picture):
    again = DRAW[name]()
    assert again.svg == picture.svg
    assert again.png == picture.png


def test_pictures_take_the_pages_colours_and_legible_labels(name, picture):
    colours = set(re.findall(r"#[0-9a-fA-F]{6}\b|\b(?:black|white)\b", picture.svg))
    assert colours <= {pictures.BLUE, pictures.ORANGE, pictures.PURPLE}
    assert "currentColor" in picture.svg
    assert 'width="360pt"' in picture.svg
    sizes = re.findall(r"<text[^>]*font-size: ([\d.]+)px", picture.svg)
    assert min(map(float, sizes)) >= 12
    assert re.search(rf'id="{name}-[0-9a-f]{{8}}-', picture.svg)


def test_text_alternatives_are_made_from_the_data():
    assert "from 0.81 at length 0" in DRAW["margin-curves"]().alt
    assert "0 at 0.9 and stays" in DRAW["margin-curves"]().alt
    assert "0 up to 0.1 and rises" in DRAW["margin-curves"]().alt
    assert "with squares from -1.8 to -0.0" in DRAW["margin-slopes"]().alt
    assert "without from -1.0 to" in DRAW["margin-slopes"]().alt
    assert "0.250 where it is 0.5, and at 0.180 where it is 1" in DRAW["pull-balance"]().alt
    assert "is 0.02, then 0.80 after one step and 0.60 at the end" in DRAW["first-steps"]().alt
