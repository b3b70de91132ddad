"""The pictures of the lesson on reconstruction: drawn from any numbers, and described by them."""

import base64
import io
import re

import pytest
import torch
from drawings import CAPSULES, DRAW, IMAGES
from matplotlib.image import imread


def embedded(svg):
    """Return the pictures in an SVG as arrays of rows, columns and red, green, blue, alpha."""
    found = re.findall(r'href="data:image/png;base64,\s*([^"]+)"', svg)
    return [imread(io.BytesIO(base64.b64decode(text))) for text in found]


@pytest.mark.parametrize("name", ["bottleneck", "picture-rows", "perturbations"])
def test_a_figure_embeds_one_picture_that_is_ink_on_a_clear_ground(name):
    [pixels] = embedded(DRAW[name]().svg)
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
