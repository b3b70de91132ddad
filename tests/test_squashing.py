"""Squashing and lengths: Equation 1 at every length, in every type, and at zero."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from capsnet_tutorial import lengths, reference, squash
from capsnet_tutorial.squashing import at_least_float32

HALF_TYPES = [torch.float16, torch.bfloat16]
ALL_TYPES = [*HALF_TYPES, torch.float32, torch.float64]

repeatable = settings(deadline=None, max_examples=60, derandomize=True)
vectors = st.lists(st.floats(-100, 100), min_size=1, max_size=8).filter(
    lambda s: any(abs(x) > 1e-3 for x in s)
)


def vectors_of_length(norms, dim=8, dtype=torch.float32):
    """Return one random direction a length, `[length, component]`."""
    directions = torch.randn(len(norms), dim, generator=torch.Generator().manual_seed(0)).double()
    directions /= directions.norm(dim=1, keepdim=True)
    return (directions * torch.as_tensor(norms).double()[:, None]).to(dtype)


def equation_1(s):
    """Compute Equation 1 as the paper writes it, in double precision."""
    norm = s.double().norm(dim=-1, keepdim=True)
    return norm**2 / (1 + norm**2) * s.double() / norm


@repeatable
@given(vectors)
def test_squash_equals_the_paper_s_formula_for_any_vector(s):
    expected = torch.tensor(reference.squash(s), dtype=torch.float64)
    torch.testing.assert_close(squash(torch.tensor(s, dtype=torch.float64)), expected)


def test_squash_of_3_4_has_length_25_26ths():
    v = squash(torch.tensor([3.0, 4.0], dtype=torch.float64))
    assert v.norm().item() == pytest.approx(25 / 26, rel=1e-14)
    assert v.tolist() == pytest.approx([3 * 5 / 26, 4 * 5 / 26], rel=1e-14)


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("function", [squash, lengths])
def test_a_zero_capsule_gives_exactly_zero_and_a_zero_gradient(function, dtype):
    capsules = torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=dtype, requires_grad=True)
    out = function(capsules)
    assert not out[0].any()
    out.sum().backward()
    assert not capsules.grad[0].any()
    # Its neighbour's gradient is unharmed.
    assert capsules.grad[1].isfinite().all()
    assert capsules.grad[1].any()


def test_squashed_lengths_are_right_from_a_thousandth_to_a_thousand():
    s = vectors_of_length(torch.logspace(-3, 3, 121))
    squared = s.double().norm(dim=1) ** 2
    expected = squared / (1 + squared)
    error = (squash(s).double().norm(dim=1) / expected - 1).abs()
    # An epsilon of 1e-8 inside the root would err by 5e-3 at the short end, one of 1e-7 beside it
    # by 1e-4; without any, what is left is rounding.
    assert error.max() < 1e-5


def test_lengths_are_right_from_a_thousandth_to_a_thousand():
    s = vectors_of_length(torch.logspace(-3, 3, 121))
    assert (lengths(s).double() / s.double().norm(dim=1) - 1).abs().max() < 1e-6


def test_huge_vectors_get_length_one():
    s = vectors_of_length([1e6, 1e18, 1e19])
    torch.testing.assert_close(squash(s).norm(dim=1), torch.ones(3))
    torch.testing.assert_close(lengths(s).double(), torch.tensor([1e6, 1e18, 1e19]).double())


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_half_types_are_right_to_their_own_precision(dtype):
    # The square of 320 is beyond float16, and that of 1e-3 is below what bfloat16 adds to 1.
    s = vectors_of_length([1e-3, 0.1, 1.0, 10.0, 320.0, 30_000.0], dtype=dtype)
    assert squash(s).dtype == lengths(s).dtype == dtype
    one_step = {
        "rtol": torch.finfo(dtype).eps,
        "atol": torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps,
    }
    torch.testing.assert_close(squash(s).double(), equation_1(s), **one_step)
    torch.testing.assert_close(lengths(s).double(), s.double().norm(dim=1), **one_step)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_autocast_changes_nothing(dtype):
    s = vectors_of_length([1e-3, 1.0, 320.0], dtype=dtype)
    with torch.autocast("cpu", torch.bfloat16):
        inside = squash(s), lengths(s)
    torch.testing.assert_close(inside, (squash(s), lengths(s)), rtol=0, atol=0)


@pytest.mark.parametrize("function", [squash, lengths])
def test_gradients_match_finite_differences(function):
    s = vectors_of_length([0.05, 0.5, 1.0, 5.0], dim=3, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(function, s)


@repeatable
@given(vectors)
def test_direction_is_kept_and_the_length_stays_below_one(s):
    s = torch.tensor(s, dtype=torch.float64)
    v = squash(s)
    torch.testing.assert_close(v / v.norm(), s / s.norm())
    assert v.norm() < 1


@repeatable
@given(vectors, st.floats(1.001, 100))
def test_a_longer_vector_of_the_same_direction_stays_longer(s, factor):
    s = torch.tensor(s, dtype=torch.float64)
    assert squash(factor * s).norm() > squash(s).norm()


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_any_axis_can_hold_the_components(dim):
    s = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(squash(s, dim).movedim(dim, -1), squash(s.movedim(dim, -1)))
    torch.testing.assert_close(lengths(s, dim), lengths(s.movedim(dim, -1)))


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_the_type_is_kept_and_sums_are_made_in_float32_or_wider(dtype):
    s = torch.ones(2, 3, dtype=dtype)
    assert squash(s).dtype == lengths(s).dtype == dtype
    assert at_least_float32(s).dtype == (dtype if dtype == torch.float64 else torch.float32)


@pytest.mark.parametrize("function", [squash, lengths])
@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool])
def test_integers_are_refused_with_the_cure(function, dtype):
    with pytest.raises(TypeError, match=rf"{dtype}: call \.float\(\)"):
        function(torch.ones(3, dtype=dtype))
