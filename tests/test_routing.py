"""Routing: Procedure 1 against plain loops, its symmetries, and what each iteration leaves."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from capsnet_tutorial import dynamic_routing, lengths, reference, squash

repeatable = settings(deadline=None, max_examples=40, derandomize=True)
sizes = st.integers(1, 4)


def predictions(b=3, i=5, j=4, m=3, seed=0, dtype=torch.float64):
    """Return random prediction vectors, each image with some that agree and some that don't."""
    generator = torch.Generator().manual_seed(seed)
    u_hat = torch.randn(b, i, j, m, generator=generator, dtype=torch.float64)
    return (u_hat + torch.randn(b, 1, j, m, generator=generator, dtype=torch.float64)).to(dtype)


def by_loops(u_hat, num_iterations):
    """Route each image with `reference`: parents `[b, j, m]` and couplings `[r, b, i, j]`."""
    images = [reference.dynamic_routing(image, num_iterations) for image in u_hat.tolist()]
    v_j, c_ij = (torch.tensor(part, dtype=torch.float64) for part in zip(*images, strict=True))
    return v_j, c_ij.transpose(0, 1)


@pytest.mark.parametrize("num_iterations", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("shape", [(1, 2, 3, 2), (3, 5, 4, 6), (2, 7, 2, 1)])
def test_routing_equals_the_plain_loops(shape, num_iterations):
    u_hat = predictions(*shape)
    v_j, trace = dynamic_routing(u_hat, num_iterations, return_trace=True)
    torch.testing.assert_close((v_j, trace.c_ij), by_loops(u_hat, num_iterations))


@repeatable
@given(sizes, sizes, sizes, sizes, st.integers(1, 5), st.floats(0.01, 10), st.integers(0, 999))
def test_routing_equals_the_plain_loops_for_any_shape_and_scale(b, i, j, m, r, scale, seed):
    u_hat = scale * predictions(b, i, j, m, seed)
    v_j, trace = dynamic_routing(u_hat, r, return_trace=True)
    torch.testing.assert_close((v_j, trace.c_ij), by_loops(u_hat, r))
    torch.testing.assert_close(trace.c_ij.sum(dim=3), torch.ones(r, b, i, dtype=torch.float64))


def test_three_iterations_are_the_default():
    u_hat = predictions()
    assert dynamic_routing(u_hat).equal(dynamic_routing(u_hat, 3))
    assert not torch.allclose(dynamic_routing(u_hat), dynamic_routing(u_hat, 4))


@st.composite
def any_predictions(draw, **fixed):
    """Draw prediction vectors of any small shape and any scale."""
    shape = {axis: fixed.get(axis, draw(sizes)) for axis in "bijm"}
    return draw(st.floats(0.01, 10)) * predictions(**shape, seed=draw(st.integers(0, 999)))


@repeatable
@given(any_predictions())
def test_the_first_iteration_shares_each_child_evenly(u_hat):
    _, trace = dynamic_routing(u_hat, return_trace=True)
    assert not trace.b_ij[0].any()
    assert trace.c_ij[0].equal(torch.full_like(trace.c_ij[0], 1 / u_hat.shape[2]))


@repeatable
@given(any_predictions(j=1))
def test_a_single_parent_gets_all_of_every_child(u_hat):
    v_j, trace = dynamic_routing(u_hat, return_trace=True)
    assert trace.c_ij.eq(1).all()
    torch.testing.assert_close(v_j, squash(u_hat.sum(dim=1)))


@repeatable
@given(any_predictions(i=5), st.permutations(range(5)))
def test_the_order_of_the_children_does_not_matter(u_hat, order):
    torch.testing.assert_close(dynamic_routing(u_hat[:, order]), dynamic_routing(u_hat))


@repeatable
@given(any_predictions(j=4), st.permutations(range(4)))
def test_reordering_the_parents_reorders_the_outputs(u_hat, order):
    v_j = dynamic_routing(u_hat)
    torch.testing.assert_close(dynamic_routing(u_hat[:, :, order]), v_j[:, order])


@repeatable
@given(any_predictions(m=4), st.integers(0, 999))
def test_turning_all_predictions_turns_the_outputs_and_leaves_the_couplings(u_hat, seed):
    turn = torch.linalg.qr(predictions(1, 1, 4, 4, seed)[0, 0])[0]
    v_j, trace = dynamic_routing(u_hat, return_trace=True)
    turned, turned_trace = dynamic_routing(u_hat @ turn, return_trace=True)
    torch.testing.assert_close(turned, v_j @ turn)
    torch.testing.assert_close(turned_trace.c_ij, trace.c_ij)


def test_turning_does_turn():
    u_hat = predictions(m=2)
    quarter = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    assert not torch.allclose(dynamic_routing(u_hat @ quarter), dynamic_routing(u_hat))


@repeatable
@given(any_predictions(b=4), st.permutations(range(4)))
def test_each_image_is_routed_on_its_own(u_hat, order):
    v_j = dynamic_routing(u_hat)
    torch.testing.assert_close(torch.cat([dynamic_routing(image[None]) for image in u_hat]), v_j)
    torch.testing.assert_close(dynamic_routing(u_hat[order]), v_j[order])


def test_the_trace_holds_every_step_of_procedure_1():
    u_hat = predictions()
    v_j, (b_ij, c_ij, s_j, v_r) = dynamic_routing(u_hat, 4, return_trace=True)
    assert [len(part) for part in (b_ij, c_ij, s_j, v_r)] == [4, 4, 4, 4]
    torch.testing.assert_close(c_ij, b_ij.softmax(dim=3))
    torch.testing.assert_close(s_j, (c_ij[..., None] * u_hat).sum(dim=2))
    torch.testing.assert_close(v_r, squash(s_j))
    agreement = (v_r[:, :, None] * u_hat).sum(dim=4)
    torch.testing.assert_close(b_ij[1:], b_ij[:-1] + agreement[:-1])
    assert v_j.equal(v_r[-1])


@pytest.mark.parametrize("num_iterations", [0, -1])
def test_fewer_than_one_iteration_is_refused(num_iterations):
    with pytest.raises(
        ValueError, match=f"num_iterations must be at least 1, got {num_iterations}"
    ):
        dynamic_routing(predictions(), num_iterations)


@pytest.mark.parametrize("shape", [(5, 4, 3), (1, 3, 5, 4, 3), ()])
def test_anything_but_four_axes_is_refused(shape):
    cause = r"\[batch, child, parent, component\], got shape " + re.escape(str(shape))
    with pytest.raises(ValueError, match=cause):
        dynamic_routing(torch.zeros(shape))


def test_integers_are_refused():
    with pytest.raises(TypeError, match="floating point"):
        dynamic_routing(torch.ones(1, 2, 3, 4, dtype=torch.int64))


@pytest.mark.parametrize("num_iterations", [1, 2, 3])
def test_the_full_gradient_matches_finite_differences(num_iterations):
    u_hat = predictions(2, 3, 2, 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda u: dynamic_routing(u, num_iterations), u_hat)


def gradient(function, u_hat):
    """Return the gradient of a sum of the outputs, each with a weight of its own."""
    u_hat = u_hat.clone().requires_grad_()
    v_j = function(u_hat)
    (v_j * torch.arange(1.0, v_j.numel() + 1).reshape(v_j.shape)).sum().backward()
    return u_hat.grad


def test_a_stopped_gradient_takes_the_last_couplings_as_constants():
    u_hat = predictions()
    v_j, trace = dynamic_routing(u_hat, return_trace=True)
    constant = trace.c_ij[-1]
    stopped = gradient(lambda u: dynamic_routing(u, stop_gradient=True), u_hat)
    held = gradient(lambda u: squash((constant[..., None] * u).sum(dim=1)), u_hat)
    torch.testing.assert_close(stopped, held)
    assert not torch.allclose(stopped, gradient(dynamic_routing, u_hat))
    assert dynamic_routing(u_hat, stop_gradient=True).equal(v_j)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_right_to_their_own_precision(dtype):
    # Predictions of length 300, of which 500 add up to more than float16 can hold.
    u_hat = torch.cat([predictions(i=500), 100 * predictions(i=500)]).to(dtype)
    v_j, trace = dynamic_routing(u_hat, return_trace=True)
    assert v_j.dtype == dtype
    assert {part.dtype for part in trace} == {torch.float32}
    expected = dynamic_routing(u_hat.double())
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(v_j.double(), expected, rtol=eps, atol=eps)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_autocast_changes_nothing(dtype):
    u_hat = predictions(i=200, dtype=dtype)
    with torch.autocast("cpu", torch.bfloat16):
        inside = dynamic_routing(u_hat)
    assert inside.equal(dynamic_routing(u_hat))


@pytest.mark.parametrize("stop_gradient", [False, True])
def test_zero_predictions_give_zero_parents_and_finite_gradients(stop_gradient):
    u_hat = torch.zeros(2, 5, 4, 3, requires_grad=True)
    v_j = dynamic_routing(u_hat, stop_gradient=stop_gradient)
    assert not v_j.any()
    v_j.sum().backward()
    assert u_hat.grad.isfinite().all()


def test_logits_far_beyond_the_exponential_s_range_do_not_overflow():
    u_hat = (1e5 * predictions(dtype=torch.float32)).requires_grad_()
    v_j, trace = dynamic_routing(u_hat, return_trace=True)
    assert trace.b_ij.max() > 1e4
    assert trace.c_ij.isfinite().all()
    assert v_j.isfinite().all()
    assert lengths(v_j).max() <= 1 + 1e-6
    v_j.sum().backward()
    assert u_hat.grad.isfinite().all()
