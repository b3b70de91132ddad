"""The pictures of the lesson on reconstruction: drawn from any numbers, and described by them."""

import base64
import io
import re
import xml.etree.ElementTree as ET

import pytest
import torch
from matplotlib.image import imread

from capsnet_tutorial import pictures
from capsnet_tutorial import plotting_reconstruction as plotting

GENERATOR = torch.Generator().manual_seed(0)
IMAGES = torch.rand(3, 1, 4, 4, generator=GENERATOR)
CAPSULES = torch.randn(3, 4, generator=GENERATOR)
MASKED = CAPSULES * torch.tensor([[0.0], [1.0], [0.0]])
MOVED = torch.rand(4, 5, 1, 6, 6, generator=GENERATOR)
MOVED[1] = 0
MOVED[3, 0], MOVED[3, -1] = 0, 1
X = torch.arange(9.0)
DRAW = {
    "bottleneck": lambda: plotting.bottleneck(IMAGES[0], 4),
    "capsule-table": lambda: plotting.capsule_table(CAPSULES, MASKED, ("before", "after")),
    "picture-rows": lambda: plotting.picture_rows(
        {"digit": IMAGES, "drawn\nagain": 1 - IMAGES}, ["a\nb", "c", "d"], "Pictures"
    ),
    "perturbations": lambda: plotting.perturbations(MOVED, [-0.2, -0.1, 0.0, 0.1, 0.2], 7),
    "scatter": lambda: plotting.scatter(X, -X, ("a number", "slant"), -1.0),
}


@pytest.fixture(params=DRAW)
def name(request):
    return request.param


@pytest.fixture
def picture(name):
    return DRAW[name]()


def embedded(svg):
    """Return the pictures in an SVG as arrays of rows, columns and red, green, blue, alpha."""
    found = re.findall(r'href="data:image/png;base64,\s*([^"]+)"', svg)
    return [imread(io.BytesIO(base64.b64decode(text))) for text in found]


def test_drawing_again_gives_the_same_bytes(name, picture):
    again = DRAW[name]()
    assert again.svg == picture.svg
    assert again.png == picture.png


def test_svg_takes_the_pages_colours_at_12_points_or_more(picture):
    colours = set(re.findall(r"#[0-9a-fA-F]{6}\b|\b(?:black|white)\b", picture.svg))
    assert colours <= {pictures.BLUE, pictures.ORANGE, pictures.PURPLE}
    assert 'width="360pt"' in picture.svg
    texts = list(ET.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}text"))
    assert texts
    for text in texts:
        assert "fill: currentColor" in text.get("style")
    assert min(map(float, re.findall(r"<text[^>]*font-size: ([\d.]+)px", picture.svg))) >= 12


@pytest.mark.parametrize("name", ["bottleneck", "picture-rows", "perturbations"])
def test_a_figure_embeds_one_picture_that_is_ink_on_a_clear_ground(name, picture):
    [pixels] = embedded(picture.svg)
    assert pixels.shape[2] == 4
    # One colour; what varies is how much of it there is.
    inked = pixels[pixels[..., 3] > 0.1]
    assert (inked[:, :3].max(axis=0) - inked[:, :3].min(axis=0)).max() < 0.05
    assert pixels[..., 3].max() - pixels[..., 3].min() > 0.5


def test_rows_of_pictures_stay_rows():
    [pixels] = embedded(DRAW["picture-rows"]().svg)
    assert pixels.shape == (8, 12, 4)
    expected = torch.cat([IMAGES[:, 0], 1 - IMAGES[:, 0]]).reshape(2, 3, 4, 4)
    expected = expected.permute(0, 2, 1, 3).reshape(8, 12)
    torch.testing.assert_close(torch.tensor(pixels[..., 3]), expected, atol=0.01, rtol=0)


def test_text_alternatives_are_made_from_the_data():
    lengths = ", ".join(f"{k}: {x:.2f}" for k, x in enumerate(CAPSULES.norm(dim=1).tolist()))
    assert lengths in DRAW["capsule-table"]().alt
    assert "only the row of class 1 is left" in DRAW["capsule-table"]().alt
    assert "of 16 pixels" in DRAW["bottleneck"]().alt
    assert DRAW["picture-rows"]().alt == "Pictures. Rows: digit, drawn again. Columns: a b, c, d."
    said = DRAW["perturbations"]().alt
    assert "pictures of a 7: 4 rows" in said
    assert "dimension 3 changes the picture most and dimension 1 least" in said
    assert DRAW["scatter"]().alt.endswith("Their correlation is −1.00.")
