"""Pictures of any size, mode and tone become what MNIST's digits are."""

import numpy as np
import pytest
import torch
from PIL import Image

from capsnet_tutorial import sample_digits
from capsnet_tutorial.predicting import DIGIT_SIDE, FAINT, make_like_mnist, read_picture

TRAIN, _ = sample_digits()
ORIGINALS = TRAIN.images[::40]  # ten of each class


def as_bytes(image):
    """Return a digit as Pillow's grey picture."""
    return Image.fromarray((image[0] * 255).round().byte().numpy())


def resized(picture, side):
    return picture.resize((side, side), Image.Resampling.BICUBIC)


def inverted(picture):
    return picture.point(lambda tone: 255 - tone)


def off_centre(picture):
    sheet = Image.new("L", (200, 120), 0)
    sheet.paste(resized(picture, 56), (130, 3))
    return sheet


def wide_tones(picture):
    return Image.fromarray((np.asarray(picture).astype(np.uint16) * 200) + 1000)


def transparent(picture, tone):
    """Return ink of one tone on a transparent ground."""
    ink = Image.new("RGBA", picture.size, (tone, tone, tone, 0))
    ink.putalpha(picture)
    return ink


def colours(picture):
    """Return a digit in yellow on a dark blue ground."""
    return Image.composite(
        Image.new("RGB", picture.size, "yellow"), Image.new("RGB", picture.size, "navy"), picture
    )


FORMS = {
    "as it is": lambda p: p,
    "large": lambda p: resized(p, 280),
    "small": lambda p: resized(p, 21),
    "odd size": lambda p: p.resize((90, 91), Image.Resampling.BICUBIC),
    "dark on light": inverted,
    "large, dark on light": lambda p: inverted(resized(p, 300)),
    "off-centre": off_centre,
    "off-centre, dark on light": lambda p: inverted(off_centre(p)),
    "faint": lambda p: p.point(lambda tone: 100 + tone // 4),
    "RGB": colours,
    "RGBA, dark ink": lambda p: transparent(p, 0),
    "RGBA, light ink": lambda p: transparent(p, 255),
    "LA": lambda p: transparent(p, 20).convert("LA"),
    "16 bits": wide_tones,
    "16 bits, dark on light": lambda p: wide_tones(inverted(resized(p, 64))),
    "32 bits": lambda p: Image.fromarray(np.asarray(p).astype(np.float32) * 3e4),
    "palette": lambda p: colours(p).quantize(64),
    "two tones": lambda p: resized(p, 224).point(lambda tone: 255 * (tone > 127)).convert("1"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_digit_is_found_again_whatever_form_its_picture_has(form, tmp_path):
    path = tmp_path / ("digit.tif" if form == "32 bits" else "digit.png")
    flat = torch.nn.functional.normalize(ORIGINALS.flatten(1))
    for number in range(0, len(ORIGINALS), 7):
        FORMS[form](as_bytes(ORIGINALS[number])).save(path)
        prepared = read_picture(path)
        assert prepared.shape == (1, 28, 28)
        assert prepared.min() == 0
        assert prepared.max() == 1
        likeness = flat @ torch.nn.functional.normalize(prepared.flatten(), dim=0)
        assert likeness.argmax() == number
        assert likeness.max() > 0.8  # the mass is centred to the nearest pixel


@pytest.mark.parametrize("form", ["as it is", "large, dark on light", "off-centre", "small"])
def test_a_prepared_digit_is_20_pixels_long_with_its_mass_in_the_middle(form, tmp_path):
    for number in range(0, len(ORIGINALS), 11):
        FORMS[form](as_bytes(ORIGINALS[number])).save(tmp_path / "digit.png")
        image = read_picture(tmp_path / "digit.png")[0]
        axis = torch.arange(28.0)
        for along in (0, 1):
            mass = image.sum(dim=along)
            assert (mass * axis).sum() / mass.sum() == pytest.approx(14, abs=0.51)
        box = [image.any(dim=along).nonzero().flatten() for along in (0, 1)]
        assert max(int(places[-1] - places[0]) + 1 for places in box) == DIGIT_SIDE


def test_a_picture_that_is_stored_lying_down_is_turned_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter to the right
    upright = as_bytes(ORIGINALS[45])
    upright.save(tmp_path / "a.png")
    upright.rotate(90).save(tmp_path / "b.png", exif=exif)
    assert read_picture(tmp_path / "a.png").equal(read_picture(tmp_path / "b.png"))


def test_thin_strokes_and_single_pixels_stay_visible():
    pixel = torch.zeros(9, 9).index_put((torch.tensor(2), torch.tensor(7)), torch.tensor(1.0))
    assert make_like_mnist(pixel)[0].count_nonzero() == DIGIT_SIDE**2
    line = torch.zeros(2000, 1500)
    line[100:1900, 700] = 1
    one = make_like_mnist(line)
    assert one.sum() == pytest.approx(DIGIT_SIDE, abs=0.05)  # its ends may be a little paler
    assert one.max() == 1


def test_faint_spots_are_no_part_of_the_digit():
    clean = torch.zeros(60, 60)
    clean[20:50, 25:32] = 1
    spotted = clean.clone()
    spotted[3, 3] = 0.1
    assert make_like_mnist(spotted).equal(make_like_mnist(clean))


def test_the_grain_of_a_photograph_is_no_part_of_the_digit():
    digit = torch.nn.functional.interpolate(ORIGINALS[35:36], scale_factor=14.0)[0, 0]
    clean = torch.nn.functional.pad(digit, [400, 100, 50, 260])
    grain = torch.randn(clean.shape, generator=torch.Generator().manual_seed(0))
    photo = (0.9 - 0.6 * clean + 0.025 * grain).clamp(0, 1)
    # Some pixels of the ground are as dark as faint ink.
    assert (photo[:, :100] < 0.9 - 0.6 * FAINT).any()
    found, expected = make_like_mnist(photo).flatten(), make_like_mnist(clean).flatten()
    assert torch.cosine_similarity(found, expected, dim=0) > 0.99


@pytest.mark.parametrize("tone", [0, 100, 255])
def test_a_picture_of_one_tone_shows_no_digit(tone, tmp_path):
    Image.new("L", (50, 40), tone).save(tmp_path / "blank.png")
    with pytest.raises(ValueError, match=r"blank\.png: the picture is of one tone"):
        read_picture(tmp_path / "blank.png")


@pytest.mark.parametrize("content", [b"", b"no picture at all", b"\x89PNG\r\n\x1a\n\0\0"])
def test_a_file_that_is_no_picture_is_named(content, tmp_path):
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.png is no picture that can be read"):
        read_picture(tmp_path / "a.png")


def test_a_picture_that_breaks_off_is_named(tmp_path):
    as_bytes(ORIGINALS[0]).save(tmp_path / "a.png")
    whole = (tmp_path / "a.png").read_bytes()
    (tmp_path / "a.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"a\.png is no picture that can be read"):
        read_picture(tmp_path / "a.png")


def test_a_gap_in_a_thin_stroke_is_kept():
    thin = torch.zeros(260, 120)
    thin[30:230, 54:60] = 1
    thin[60:200, 54:60] = 0
    rows = make_like_mnist(thin)[0].sum(dim=1)
    lying = make_like_mnist(thin.T.contiguous())[0].sum(dim=0)
    assert rows.gt(0.5).sum() < 10
    torch.testing.assert_close(rows, lying)
