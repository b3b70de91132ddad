"""The wrong ways to route: each shows its fault, and right pieces make the right function."""

import pytest
import torch

from capsnet_tutorial import dynamic_routing, lengths
from capsnet_tutorial.layers import DigitCaps
from capsnet_tutorial.mistakes_routing import (
    PARENTS,
    DigitCapsOverChildren,
    route,
    routing_over_children,
    routing_over_children_but_last,
    routing_shared_over_batch,
)


@pytest.fixture
def u_hat():
    return torch.randn(3, 6, 4, 5, generator=torch.Generator().manual_seed(0))


def test_with_the_parents_axis_the_same_code_is_right(u_hat):
    right = dynamic_routing(u_hat, 3)
    torch.testing.assert_close(route(u_hat, [PARENTS] * 3)[-1].v_j, right)


def test_over_children_each_parent_shares_itself_out(u_hat):
    trace = routing_over_children(u_hat)
    for step in trace:
        torch.testing.assert_close(step.c_ij.sum(dim=1), torch.ones(3, 4))
    assert not torch.allclose(trace[-1].c_ij.sum(dim=2), torch.ones(3, 6), atol=0.01)
    torch.testing.assert_close(trace[0].c_ij, torch.full((3, 6, 4), 1 / 6))


def test_over_children_but_last_uses_the_parents_axis_once(u_hat):
    *first, last = routing_over_children_but_last(u_hat)
    assert len(first) == 3
    for step in first:
        torch.testing.assert_close(step.c_ij.sum(dim=1), torch.ones(3, 4))
    torch.testing.assert_close(last.c_ij.sum(dim=2), torch.ones(3, 6))


def test_shared_logits_make_an_image_depend_on_its_neighbours(u_hat):
    together, alone = (routing_shared_over_batch(u)[-1].v_j[0] for u in (u_hat, u_hat[:1]))
    assert (together - alone).abs().max() > 1e-3
    right = dynamic_routing(u_hat[:1])[0]
    torch.testing.assert_close(alone, right)


def test_digit_caps_over_children_differ_from_the_right_layer_in_the_axis_alone():
    torch.manual_seed(0)
    right = DigitCaps(6, 8, 4, 5)
    wrong = DigitCapsOverChildren(6, 8, 4, 5)
    wrong.load_state_dict(right.state_dict())
    u = torch.randn(2, 6, 8)
    expected = routing_over_children(right.predict(u))[-1].v_j
    torch.testing.assert_close(wrong(u), expected)
    assert (lengths(wrong(u)) - lengths(right(u))).abs().max() > 1e-3
