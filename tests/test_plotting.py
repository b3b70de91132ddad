"""Pictures: the same bytes each time, at home in any page, and never without a text."""

import base64
import functools
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from drawings import DRAW
from matplotlib.figure import Figure

from capsnet_tutorial import pictures, plotting
from capsnet_tutorial.pictures import Picture

ROOT = Path(__file__).resolve().parent.parent
GROUNDS = ("#fffdf9", "#14181d")  # of theme/tutorial.css


@pytest.fixture(params=DRAW)
def name(request):
    return request.param


@functools.cache
def drawn_once(name):
    return DRAW[name]()


@pytest.fixture
def picture(name):
    return drawn_once(name)


def test_drawing_again_gives_the_same_bytes(name, picture):
    again = DRAW[name]()
    assert again.svg == picture.svg
    assert again.png == picture.png


def test_svg_takes_the_pages_colours(picture):
    colours = set(re.findall(r"#[0-9a-fA-F]{6}\b|\b(?:black|white)\b", picture.svg))
    assert colours <= {pictures.BLUE, pictures.ORANGE, pictures.PURPLE}
    assert "currentColor" in picture.svg
    # Whatever says no colour at all is black: text must say one, or the page's own would be lost.
    for text in ET.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}text"):
        assert "fill: currentColor" in text.get("style")


def test_svg_brings_nothing_that_reaches_beyond_it(name, picture):
    root = ET.fromstring(picture.svg)
    assert picture.svg.startswith("<svg")
    assert not list(root.iter("{http://www.w3.org/2000/svg}style"))
    assert "date" not in picture.svg
    assert "http://matplotlib" not in picture.svg
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(rf"{name}-[0-9a-f]{{8}}-\w+", identifier) for identifier in ids)
    used = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', picture.svg)
    assert {a or b for a, b in used} == set(ids)


def test_svg_labels_are_text_of_12_points_or_more_on_5_inches(picture):
    assert 'width="360pt"' in picture.svg
    sizes = re.findall(r"<text[^>]*font-size: ([\d.]+)px", picture.svg)
    assert sizes
    assert min(map(float, sizes)) >= 12


def test_different_drawings_share_no_id():
    ids = [set(re.findall(r'id="([^"]+)"', draw().svg)) for draw in DRAW.values()]
    assert len(set.union(*ids)) == sum(map(len, ids))


def test_jupyter_gets_svg_png_and_text_with_the_alternative(picture):
    data, metadata = picture._repr_mimebundle_()
    assert data["image/svg+xml"] == picture.svg
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == picture.alt == repr(picture)
    for kind in ("image/svg+xml", "image/png"):
        assert metadata[kind] == {"alt": picture.alt, "needs_background": "light"}


def test_text_alternatives_are_made_from_the_data():
    assert "2.0 becomes 0.50, 1.0 becomes 0.25" in DRAW["before-and-after"]().alt
    assert "from 0.00 to 0.96" in DRAW["squash-curve"]().alt
    assert "child 1 guesses (0.6, 0.8)" in DRAW["prediction-arrows"]().alt
    assert "features, 64×12×16" in DRAW["architecture"]().alt
    assert "by place: (0, 1, 2), (1, 1, 2)." in DRAW["capsule-cover"]().alt
    assert "always 1: 0.1 to 0.4." in DRAW["first-lengths"]().alt
    assert "margin: from 0.8 to 0." in DRAW["loss-terms"]().alt
    assert "decoder: 75.0% and 10.0%." in DRAW["weights-and-work"]().alt
    assert "Round 3: child 0 gives 0.25, 0.25" in DRAW["coupling-rounds"]().alt
    assert DRAW["digits"]().alt == "Read: 4, read as 9, 7."
    assert "3,500 to learn from, 1,000 to judge by" in DRAW["piles"]().alt
    assert "error: in training from 20.0% to 5.0%" in DRAW["training-curves"]().alt.lower()
    assert "10000 of 10012 are on its diagonal" in DRAW["confusion"]().alt
    assert "4 as 9 12 times" in DRAW["confusion"]().alt
    assert "The longest is 9's. 0: 0.00, 1: 0.10" in DRAW["one-prediction"]().alt


@pytest.mark.parametrize("alt", ["", "  \n"])
def test_a_picture_without_a_text_is_refused(alt):
    with pytest.raises(ValueError, match="'empty' needs an alt text"):
        Picture(Figure(), "empty", alt=alt)


@pytest.mark.parametrize("colour", [pictures.BLUE, pictures.ORANGE, pictures.PURPLE])
@pytest.mark.parametrize("ground", GROUNDS)
def test_lines_stand_out_on_light_and_dark(colour, ground):
    high, low = sorted((luminance(colour), luminance(ground)), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 4


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_home_pages_picture_is_the_one_that_is_drawn():
    assert (ROOT / "docs/assets/capsule.svg").read_text("utf-8") == plotting.capsule_picture().svg
