"""The margin loss: Equation 4 by hand, by loops, at its corners, and what it refuses."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from capsnet_tutorial import margin_loss, reference

repeatable = settings(deadline=None, max_examples=40, derandomize=True)


def capsules(b=3, k=10, m=4, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(b, k, m, generator=generator, dtype=torch.float64).to(dtype) / 2


def of_lengths(*rows):
    """Return one-component capsules `[b, k, 1]` of the given lengths."""
    return torch.tensor(rows, dtype=torch.float64).unsqueeze(2)


def by_loops(v_j, presence):
    images = zip(v_j.tolist(), presence.int().tolist(), strict=True)
    losses = [reference.margin_loss(v, present) for v, present in images]
    return sum(losses) / len(losses)


@pytest.mark.parametrize("others", [0.0, 0.05, 0.1])
def test_a_missed_class_costs_081_while_the_others_stay_within_their_margin(others):
    v_j = of_lengths([0.0] + 9 * [others])
    assert margin_loss(v_j, torch.tensor([0])).item() == pytest.approx(0.81)


def test_nine_wrong_capsules_of_length_one_cost_3645():
    assert margin_loss(of_lengths(10 * [1.0]), torch.tensor([4])).item() == pytest.approx(3.645)


def test_the_classes_are_summed_and_the_batch_is_averaged():
    # The first image costs 0.81 + 0.5 · 0.25, the second nothing, the third 0.5 · (0.01 + 0.04).
    v_j = of_lengths([0.0, 0.6, 0.0], [0.1, 0.9, 0.0], [0.2, 0.3, 1.0])
    loss = margin_loss(v_j, torch.tensor([0, 1, 2]))
    assert loss.item() == pytest.approx((0.935 + 0 + 0.025) / 3)


@repeatable
@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 999), st.data())
def test_the_loss_equals_the_plain_loops_for_any_presence(b, k, seed, data):
    row = st.lists(st.sampled_from([0, 1]), min_size=k, max_size=k)
    presence = torch.tensor(data.draw(st.lists(row, min_size=b, max_size=b)))
    v_j = capsules(b, k, seed=seed)
    loss = margin_loss(v_j, presence)
    assert loss.item() == pytest.approx(by_loops(v_j, presence), rel=1e-12)
    assert loss >= 0


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_class_numbers_equal_presence_of_one_class(dtype):
    targets = torch.tensor([0, 9, 4], dtype=dtype)
    presence = torch.zeros(3, 10)
    presence[[0, 1, 2], [0, 9, 4]] = 1
    v_j = capsules()
    assert margin_loss(v_j, targets) == margin_loss(v_j, presence)
    assert margin_loss(v_j, targets) == margin_loss(v_j, presence.bool())
    assert margin_loss(v_j, targets).item() == pytest.approx(by_loops(v_j, presence), rel=1e-12)


def test_several_present_classes_each_pay_for_being_short():
    v_j = of_lengths([0.4, 0.3, 0.5])
    loss = margin_loss(v_j, torch.tensor([[1, 1, 0]]))
    assert loss.item() == pytest.approx(0.5**2 + 0.6**2 + 0.5 * 0.4**2)


def test_both_margins_are_inclusive():
    v_j = of_lengths([0.9, 0.1, 0.95, 0.05]).requires_grad_()
    loss = margin_loss(v_j, torch.tensor([[1, 0, 1, 0]]))
    assert loss == 0
    loss.backward()
    assert not v_j.grad.any()


def test_margins_and_weight_can_be_chosen():
    v_j = of_lengths([0.5, 0.5])
    loss = margin_loss(v_j, torch.tensor([0]), m_plus=0.8, m_minus=0.3, lambda_=0.25)
    assert loss.item() == pytest.approx(0.3**2 + 0.25 * 0.2**2)
    by_reference = reference.margin_loss([[0.5], [0.5]], [1, 0], 0.8, 0.3, 0.25)
    assert loss.item() == pytest.approx(by_reference)


def test_zero_capsules_have_a_finite_gradient():
    v_j = torch.zeros(2, 10, 16, requires_grad=True)
    margin_loss(v_j, torch.tensor([0, 1])).backward()
    assert v_j.grad.isfinite().all()


def test_the_gradient_matches_finite_differences():
    v_j = capsules(2, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda v: margin_loss(v, torch.tensor([0, 2])), v_j)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("autocast", [False, True])
def test_half_types_give_a_float32_loss_that_is_right(dtype, autocast):
    # Capsules this long never leave squash, but their squares leave float16.
    v_j = 300 * capsules(dtype=dtype)
    v_j[1] = capsules(dtype=dtype)[1] / 10
    targets = torch.tensor([1, 2, 3])
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        loss = margin_loss(v_j, targets)
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(margin_loss(v_j.double(), targets).item(), rel=1e-5)


@pytest.mark.parametrize(
    ("targets", "cause"),
    [
        (torch.tensor([0, 10, 1]), "between 0 and 9, got 0 to 10"),
        (torch.tensor([-1, 0, 1]), "between 0 and 9, got -1 to 1"),
        (
            torch.tensor([0.0, 1.0, 2.0]),
            r"integer class numbers of shape \(3,\).*got torch.float32",
        ),
        (torch.tensor([True, False, True]), "got torch.bool"),
        (torch.tensor([0, 1]), r"shape \(3,\).*\(3, 10\).*got torch.int64 of shape \(2,\)"),
        (torch.tensor(3), r"of shape \(\)"),
        (torch.zeros(3, 9), r"of shape \(3, 9\)"),
        (torch.zeros(2, 10), r"of shape \(2, 10\)"),
        (torch.zeros(3, 1, dtype=torch.int64), r"of shape \(3, 1\)"),
        (torch.full((3, 10), 1.5), "must lie between 0 and 1"),
        (torch.full((3, 10), -0.5), "must lie between 0 and 1"),
        (torch.full((3, 10), float("nan")), "must lie between 0 and 1"),
    ],
)
def test_unfit_targets_are_refused_by_their_cause(targets, cause):
    with pytest.raises(ValueError, match=cause):
        margin_loss(capsules(), targets)


@pytest.mark.parametrize("shape", [(3, 10), (0, 10, 16), (3, 10, 16, 1)])
def test_unfit_capsules_are_refused_by_their_shape(shape):
    targets = torch.zeros(shape[0], dtype=torch.int64)
    with pytest.raises(ValueError, match=r"\[batch, class, component\].*" + re.escape(str(shape))):
        margin_loss(torch.zeros(shape), targets)


def test_integer_capsules_are_refused():
    with pytest.raises(TypeError, match="floating point"):
        margin_loss(torch.ones(1, 2, 3, dtype=torch.int64), torch.tensor([0]))
