"""Pictures as letters: what comes back is what was there, to sixteen levels."""

import json

import pytest
import torch

from capsnet_tutorial.thumbnails import pack_images, unpack_images


def test_images_come_back_to_within_half_a_level():
    images = torch.rand(3, 2, 4, 5, generator=torch.Generator().manual_seed(0))
    texts = json.loads(json.dumps(pack_images(images)))
    back = unpack_images(texts, (2, 4, 5))
    assert back.shape == images.shape
    assert (back - images).abs().max() <= 1 / 30 + 1e-6


def test_sixteen_levels_come_back_exactly():
    images = torch.arange(16).reshape(1, 1, 4, 4) / 15
    assert pack_images(images) == ["0123456789abcdef"]
    assert unpack_images(pack_images(images), (1, 4, 4)).equal(images)


def test_a_text_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match=r"shape \(1, 2, 2\) needs 4 letters, got 3"):
        unpack_images(["0f6"], (1, 2, 2))
