"""The wrong margin losses: each shows its fault, and right pieces make the right function."""

import math

import pytest
import torch

from capsnet_tutorial import lengths, margin_loss
from capsnet_tutorial.mistakes import (
    margin_by_plain_root,
    margin_costs,
    margin_mean,
    margin_not_squared,
    margin_of_softmax,
    predict_over_batch,
)

BEST_SHARE = math.e / (math.e + 9)


@pytest.fixture
def v_j():
    return torch.randn(4, 10, 3, generator=torch.Generator().manual_seed(0)) / 3


@pytest.fixture
def targets():
    return torch.tensor([0, 3, 9, 3])


def slopes(loss, length, targets):
    length = length.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(length[:, :, None], targets), length)
    return gradient


def test_with_squares_and_a_sum_the_same_code_is_right(v_j, targets):
    costs = margin_costs(lengths(v_j), targets)
    torch.testing.assert_close(costs.sum(dim=1).mean(), margin_loss(v_j, targets))
    torch.testing.assert_close(margin_by_plain_root(v_j, targets), margin_loss(v_j, targets))


def test_a_mean_is_a_tenth_of_the_sum(v_j, targets):
    torch.testing.assert_close(10 * margin_mean(v_j, targets), margin_loss(v_j, targets))


@pytest.mark.parametrize("n", [0.11, 0.245, 0.5, 0.89])
def test_without_squares_nine_absent_classes_outweigh_the_present_one_at_any_length(n):
    slope = slopes(margin_not_squared, torch.full((1, 10), n), torch.tensor([0]))
    torch.testing.assert_close(slope[0], torch.tensor([-1.0] + 9 * [0.5]))


def test_without_squares_the_pull_beside_the_margin_is_the_same_as_far_from_it():
    near, far = (torch.tensor([[n]]) for n in (0.899, 0.1))
    present = torch.tensor([0])
    assert slopes(margin_not_squared, near, present) == slopes(margin_not_squared, far, present)
    assert slopes(margin_loss, near, present).abs() < 0.003


def test_of_a_softmax_no_lengths_cost_less_than_0446():
    floor = (0.9 - BEST_SHARE) ** 2
    assert floor == pytest.approx(0.446, abs=5e-4)
    corner = torch.eye(10)[:1, :, None]
    assert margin_of_softmax(corner, torch.tensor([0])).item() == pytest.approx(floor)
    anything = torch.rand(2000, 10, 1, generator=torch.Generator().manual_seed(0))
    for v in anything:
        assert margin_of_softmax(v[None], torch.tensor([0])) > floor
    assert margin_loss(corner, torch.tensor([0])) == 0


def test_a_plain_root_ruins_the_gradient_of_a_zero_capsule_and_of_no_other(v_j, targets):
    v_j[0, 5] = 0
    v_j.requires_grad_()
    (gradient,) = torch.autograd.grad(margin_by_plain_root(v_j, targets), v_j)
    assert gradient[0, 5].isnan().all()
    (right,) = torch.autograd.grad(margin_loss(v_j, targets), v_j)
    assert right[0, 5].eq(0).all()
    gradient[0, 5] = 0
    torch.testing.assert_close(gradient, right)


def test_over_the_batch_a_neighbour_decides_and_alone_it_is_always_class_0():
    image, neighbour = [0.8, 0.7, 0.1], [0.9, 0.1, 0.1]
    assert torch.tensor(image).argmax() == 0
    assert predict_over_batch(torch.tensor([image, neighbour]))[0] == 1
    assert predict_over_batch(torch.tensor([[0.1, 0.2, 0.9]])) == 0
