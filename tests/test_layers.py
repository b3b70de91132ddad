"""Capsule layers: which numbers make up a capsule, how parents are predicted, the first scale."""

import math

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from capsnet_tutorial import DigitCaps, PrimaryCaps, dynamic_routing, layers, squash


class NumberedChannels(nn.Module):
    """Stand in for a convolution: the value at channel k, row y, column x spells k, y and x."""

    def __init__(self, channels, rows, columns):
        super().__init__()
        channel = torch.arange(channels)[:, None, None] * 10_000
        place = torch.arange(rows)[:, None] * 100 + torch.arange(columns)
        self.numbers = (channel + place).float()

    def forward(self, features):
        return torch.stack([self.numbers, -self.numbers])


@pytest.mark.parametrize(("types", "dim"), [(32, 8), (3, 4)])
@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (2, 5), (1, 1)])
def test_a_capsule_is_the_channels_of_one_type_at_one_place(monkeypatch, types, dim, rows, columns):
    primary = PrimaryCaps(4, types, dim)
    primary.conv = NumberedChannels(types * dim, rows, columns)
    monkeypatch.setattr(layers, "squash", lambda u: u)
    u = primary(torch.zeros(2, 4, 20, 20))
    expected = [
        [10_000.0 * channel + 100 * y + x for channel in range(dim * t, dim * (t + 1))]
        for t in range(types)
        for y in range(rows)
        for x in range(columns)
    ]
    assert u[0].tolist() == expected
    assert u[1].equal(-u[0])


def test_primary_capsules_are_squashed_and_may_point_anywhere():
    primary = PrimaryCaps(4, 3, 8)
    features = torch.randn(2, 4, 20, 20, generator=torch.Generator().manual_seed(0))
    u = primary(features)
    # Capsule (type 1, row 2, column 3) of the first image, on a grid of 6 by 6.
    torch.testing.assert_close(
        u[0, 1 * 36 + 2 * 6 + 3], squash(primary.conv(features)[0, 8:16, 2, 3])
    )
    # A ReLU would confine all capsules to one corner of space.
    assert (u < 0).any()
    assert (u > 0).any()


def test_a_primary_capsule_sees_nine_by_nine_features_two_apart():
    primary = PrimaryCaps(1, 1, 8)
    features = torch.zeros(1, 1, 20, 20, requires_grad=True)
    capsule = primary(features)[0, 2 * 6 + 3]
    capsule.sum().backward()
    rows, columns = features.grad[0, 0].nonzero().T
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (4, 12, 6, 14)


def test_predictions_are_matrices_times_capsules():
    torch.manual_seed(0)
    digit = DigitCaps(num_below=5, dim_below=4, num_above=3, dim_above=2)
    u = torch.randn(2, 5, 4)
    u_hat = digit.predict(u)
    assert u_hat.shape == (2, 5, 3, 2)
    for b in range(2):
        for i in range(5):
            for j in range(3):
                torch.testing.assert_close(u_hat[b, i, j], digit.weight[i, j] @ u[b, i])


class LargestTensor(TorchDispatchMode):
    """Note the largest number of elements that any operation returns, views included."""

    elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor):
            self.elements = max(self.elements, out.numel())
        return out


def test_the_matrices_are_not_repeated_for_every_image():
    b, i, n, j, m = 7, 5, 4, 3, 6
    digit = DigitCaps(num_below=i, dim_below=n, num_above=j, dim_above=m)
    u = torch.randn(b, i, n, requires_grad=True)
    kept = []
    with (
        LargestTensor() as largest,
        torch.autograd.graph.saved_tensors_hooks(
            lambda x: kept.append(x.numel()) or x, lambda x: x
        ),
    ):
        digit.predict(u).sum().backward()
    # Predictions themselves are the largest thing there is; `b` times the matrices would be more.
    assert largest.elements == b * i * j * m
    assert kept
    assert max(kept) <= i * j * m * n


def test_parents_are_the_routed_predictions():
    digit = DigitCaps(5, 4, 3, 2, num_iterations=2)
    u = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0))
    assert digit(u).equal(dynamic_routing(digit.predict(u), 2))
    assert not digit(u).equal(dynamic_routing(digit.predict(u), 3))
    assert DigitCaps(5, 4, 3, 2).num_iterations == 3


@pytest.mark.parametrize("stop_gradient", [False, True])
def test_the_layer_hands_its_choice_of_gradient_to_routing(stop_gradient):
    torch.manual_seed(0)
    digit = DigitCaps(5, 4, 3, 2, stop_gradient=stop_gradient)
    u = torch.randn(2, 5, 4)
    digit(u)[..., 0].sum().backward()
    routed = dynamic_routing(digit.predict(u), stop_gradient=stop_gradient)
    (expected,) = torch.autograd.grad(routed[..., 0].sum(), digit.weight)
    other = dynamic_routing(digit.predict(u), stop_gradient=not stop_gradient)
    (different,) = torch.autograd.grad(other[..., 0].sum(), digit.weight)
    torch.testing.assert_close(digit.weight.grad, expected)
    assert not torch.allclose(digit.weight.grad, different)


@pytest.mark.parametrize(("num_below", "num_above"), [(1152, 10), (288, 10), (3200, 5)])
def test_first_weights_keep_the_root_mean_square_of_a_parent_s_input(num_below, num_above):
    torch.manual_seed(0)
    digit = DigitCaps(num_below, 8, num_above, 16)
    std = 1.5 * num_above / math.sqrt(num_below * 16)
    assert digit.weight.std().item() == pytest.approx(std, rel=0.01)
    assert abs(digit.weight.mean().item()) < 0.01 * std
    # With even couplings, parents are 1.5 times as long as unit children in the root mean square.
    u = nn.functional.normalize(torch.randn(64, num_below, 8), dim=2)
    s_j = digit.predict(u).mean(dim=1) * num_below / num_above
    assert s_j.square().sum(dim=2).mean().sqrt().item() == pytest.approx(1.5, rel=0.1)


@pytest.mark.parametrize("shape", [(1, 1, 8), (1, 6, 1), (1, 5, 8)])
def test_other_children_than_the_layers_are_refused_with_both_shapes(shape):
    with pytest.raises(ValueError, match=r"6 children, 8 components.*got shape"):
        DigitCaps(6, 8, 3, 4)(torch.ones(shape))
