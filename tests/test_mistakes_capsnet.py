"""The bare view of the primary capsules: the right shape, and other numbers in each capsule."""

import torch

from capsnet_tutorial.layers import PrimaryCaps
from capsnet_tutorial.mistakes import PrimaryCapsByView, primary_by_view


def numbered(channels, rows, columns):
    """Return numbers that spell channel, row and column."""
    channel = torch.arange(channels)[:, None, None] * 100
    return (channel + torch.arange(rows)[:, None] * 10 + torch.arange(columns)).float()


def test_a_bare_view_takes_neighbouring_pixels_of_one_channel():
    right = PrimaryCaps(4, 2, 8).group(numbered(16, 6, 6)[None])[0]
    wrong = primary_by_view(numbered(16, 6, 6)[None])[0]
    assert wrong.shape == right.shape == (72, 8)
    assert right[0].tolist() == [0, 100, 200, 300, 400, 500, 600, 700]
    assert wrong[0].tolist() == [0, 1, 2, 3, 4, 5, 10, 11]
    # Capsule 4 even straddles two channels: they have 36 numbers, and 36 is no multiple of 8.
    assert wrong[4].tolist() == [52, 53, 54, 55, 100, 101, 102, 103]


def test_the_layer_with_the_bare_view_holds_the_same_numbers_in_other_capsules():
    torch.manual_seed(0)
    right, wrong = PrimaryCaps(4, 2, 8), PrimaryCapsByView(4, 2, 8)
    wrong.load_state_dict(right.state_dict())
    features = torch.randn(2, 4, 20, 20)
    channels = right.conv(features)
    ours, theirs = (layer.group(channels).flatten().sort().values for layer in (right, wrong))
    assert ours.equal(theirs)
    assert wrong(features).shape == right(features).shape
    assert not torch.allclose(wrong(features), right(features), atol=1e-3)


def test_on_a_grid_of_one_place_the_two_are_the_same():
    channels = torch.randn(2, 16, 1, 1)
    assert primary_by_view(channels).equal(PrimaryCaps(4, 2, 8).group(channels))
