"""The gradient of routing in one product: equal to autograd's, for any input, in less memory."""

import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch._subclasses import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from capsnet_tutorial import DigitCaps, dynamic_routing, routing, squash
from capsnet_tutorial.routing_gradient import (
    RoutingInOneProduct,
    gradient_in_one_product,
    route,
    squash_gradient,
)

repeatable = settings(deadline=None, max_examples=40, derandomize=True)
sizes = st.integers(1, 4)


def predictions(b=3, i=5, j=4, m=3, seed=0, dtype=torch.float64, device="cpu"):
    """Return random prediction vectors, of which some agree."""
    generator = torch.Generator().manual_seed(seed)
    u_hat = torch.randn(b, i, j, m, generator=generator, dtype=torch.float64)
    u_hat = u_hat + torch.randn(b, 1, j, m, generator=generator, dtype=torch.float64)
    return u_hat.to(device, dtype).requires_grad_()


def plain(u_hat, num_iterations=3):
    """Route with the loop that readers see, so that autograd makes the gradient."""
    wide = u_hat.float() if u_hat.dtype.itemsize < 4 else u_hat
    return routing._route(wide, num_iterations, False)[-1].v_j.to(u_hat.dtype)


def value_and_gradient(function, u_hat, *args):
    """Return the outputs, and the gradient of their sum with a weight of its own for each."""
    v_j = function(u_hat, *args)
    weights = torch.linspace(-1, 2, v_j.numel()).reshape(v_j.shape).to(v_j)
    return v_j, torch.autograd.grad(v_j, u_hat, weights)[0]


@pytest.mark.parametrize("num_iterations", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("shape", [(1, 2, 3, 2), (3, 5, 4, 6), (2, 7, 1, 3), (2, 1, 3, 1)])
def test_values_and_gradient_equal_plain_autograd(shape, num_iterations):
    u_hat = predictions(*shape)
    torch.testing.assert_close(
        value_and_gradient(dynamic_routing, u_hat, num_iterations),
        value_and_gradient(plain, u_hat, num_iterations),
    )


@repeatable
@given(sizes, sizes, sizes, sizes, st.integers(1, 5), st.floats(0.01, 10), st.integers(0, 999))
def test_the_gradient_equals_plain_autograd_for_any_shape_and_scale(b, i, j, m, r, scale, seed):
    u_hat = (scale * predictions(b, i, j, m, seed)).detach().requires_grad_()
    torch.testing.assert_close(
        value_and_gradient(dynamic_routing, u_hat, r), value_and_gradient(plain, u_hat, r)
    )


@pytest.mark.parametrize("num_iterations", [2, 3, 5])
def test_first_and_second_derivatives_match_finite_differences(num_iterations):
    u_hat = predictions(2, 3, 2, 2)
    assert torch.autograd.gradcheck(lambda u: dynamic_routing(u, num_iterations), u_hat)
    assert torch.autograd.gradgradcheck(lambda u: dynamic_routing(u, num_iterations), u_hat)


def test_one_iteration_of_the_product_is_plain_too():
    # Callers leave this case to autograd; the formulas hold for it as well.
    u_hat = predictions().transpose(1, 2).detach().requires_grad_()
    torch.testing.assert_close(
        value_and_gradient(lambda u: RoutingInOneProduct.apply(u, 1)[0], u_hat),
        value_and_gradient(lambda u: squash(u.sum(dim=2) / u.shape[1]), u_hat),
    )


def test_the_rounds_are_those_of_the_plain_loop():
    u_hat = predictions()
    _, trace = dynamic_routing(u_hat, 4, return_trace=True)
    c_ji, s_j, v_j = route(u_hat.transpose(1, 2), 4)
    torch.testing.assert_close((c_ji.mT, s_j, v_j), (trace.c_ij, trace.s_j, trace.v_j))


@pytest.mark.parametrize("length", [0.0, 1e-30, 1e-3, 1.0, 30.0, 1e6, 1e15])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_squash_s_gradient_is_right_at_any_length(length, dtype):
    s = torch.tensor([[0.6, -0.8, 0.0]], dtype=torch.float64) * length
    s.requires_grad_()
    grad_v = torch.tensor([[1.0, 2.0, -3.0]], dtype=torch.float64)
    (expected,) = torch.autograd.grad(squash(s), s, grad_v)
    found = squash_gradient(s.detach().to(dtype), grad_v.to(dtype))
    torch.testing.assert_close(found, expected.to(dtype), atol=1e-29, rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_have_the_gradient_of_float32_rounded_once(dtype):
    u_hat = predictions(i=300, dtype=dtype)
    v_j, grad = value_and_gradient(dynamic_routing, u_hat)
    assert (v_j.dtype, grad.dtype) == (dtype, dtype)
    wide = u_hat.detach().double().requires_grad_()
    eps = torch.finfo(dtype).eps
    expected_v_j, expected = value_and_gradient(plain, wide)
    torch.testing.assert_close(v_j.double(), expected_v_j, rtol=eps, atol=eps)
    torch.testing.assert_close(
        grad.double(), expected, rtol=eps, atol=eps * expected.abs().max().item()
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_autocast_changes_neither_values_nor_gradient(dtype):
    u_hat = predictions(i=50, dtype=dtype)
    expected = value_and_gradient(dynamic_routing, u_hat)
    with torch.autocast("cpu", torch.bfloat16):
        inside = value_and_gradient(dynamic_routing, u_hat)
    assert all(a.equal(b) for a, b in zip(inside, expected, strict=True))


def test_an_image_s_gradient_does_not_depend_on_its_batch():
    u_hat = predictions(b=4)
    weights = torch.randn(4, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    (whole,) = torch.autograd.grad(dynamic_routing(u_hat), u_hat, weights)
    for b in range(4):
        v_j = dynamic_routing(u_hat[b : b + 1])
        (alone,) = torch.autograd.grad(v_j, u_hat, weights[b : b + 1])
        torch.testing.assert_close(alone[b], whole[b])
        assert not alone[torch.arange(4) != b].any()


def test_zero_predictions_have_a_zero_gradient():
    u_hat = torch.zeros(2, 5, 4, 3, requires_grad=True)
    v_j, grad = value_and_gradient(dynamic_routing, u_hat)
    assert not v_j.any()
    assert not grad.any()
    # Some zeros among other predictions, too: a parent that nobody speaks for.
    u_hat = predictions().detach()
    u_hat[:, :, 1] = 0
    u_hat.requires_grad_()
    torch.testing.assert_close(
        value_and_gradient(dynamic_routing, u_hat), value_and_gradient(plain, u_hat)
    )


@pytest.mark.parametrize("order", [(1, 0, 2, 3), (3, 2, 1, 0), (0, 2, 3, 1)])
def test_the_layout_in_memory_does_not_matter(order):
    u_hat = predictions().detach()
    stored = u_hat.permute(order).contiguous()
    back = torch.tensor(order).argsort().tolist()
    moved = stored.permute(back).requires_grad_()
    assert not moved.is_contiguous()
    torch.testing.assert_close(
        value_and_gradient(dynamic_routing, moved),
        value_and_gradient(dynamic_routing, u_hat.requires_grad_()),
    )
    every_second = predictions(b=6).detach()[::2].requires_grad_()
    torch.testing.assert_close(
        value_and_gradient(dynamic_routing, every_second), value_and_gradient(plain, every_second)
    )


def test_the_same_input_gives_the_same_bits():
    u_hat = predictions(b=7, i=200, j=10, m=16, dtype=torch.float32)
    first, second = (value_and_gradient(dynamic_routing, u_hat) for _ in range(2))
    assert all(a.equal(b) for a, b in zip(first, second, strict=True))


def test_it_works_where_no_gradient_is_wanted():
    u_hat = predictions()
    expected = dynamic_routing(u_hat)
    with torch.no_grad():
        inside = dynamic_routing(u_hat)
    without = dynamic_routing(u_hat.detach())
    torch.testing.assert_close((inside, without), (expected.detach(), expected.detach()))
    assert expected.requires_grad
    assert not inside.requires_grad
    assert not without.requires_grad


def test_it_serves_the_full_gradient_and_nothing_else(monkeypatch):
    class UsedError(Exception):
        pass

    def apply(*_):
        raise UsedError

    monkeypatch.setattr(routing.RoutingInOneProduct, "apply", apply)
    u_hat = predictions()
    with pytest.raises(UsedError):
        dynamic_routing(u_hat)
    dynamic_routing(u_hat, 1)
    dynamic_routing(u_hat, stop_gradient=True)
    dynamic_routing(u_hat, return_trace=True)
    dynamic_routing(u_hat.detach())


# torch itself warns of its own torch.jit.script when forward mode is first used.
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:FutureWarning")
def test_torch_s_function_transforms_go_through_it():
    u_hat = predictions()
    (expected,) = torch.autograd.grad(dynamic_routing(u_hat).sum(), u_hat)

    def total(image):
        return dynamic_routing(image[None]).sum()

    torch.testing.assert_close(torch.func.vmap(torch.func.grad(total))(u_hat.detach()), expected)
    _, along = torch.func.jvp(dynamic_routing, (u_hat.detach(),), (u_hat.detach(),))
    torch.testing.assert_close(along.sum(), (expected * u_hat).sum().detach())


# A process of its own, since the compiler can't trace the checks of types in this one. aot_eager
# traces both passes and needs no compiler for C++.
COMPILED = """
import torch
from capsnet_tutorial import dynamic_routing

compiled = torch.compile(dynamic_routing, backend="aot_eager", fullgraph=True)
u_hat = torch.randn(2, 9, 4, 3, dtype=torch.float64, requires_grad=True)
weights = torch.randn(2, 4, 3, dtype=torch.float64)
values = compiled(u_hat), dynamic_routing(u_hat)
torch.testing.assert_close(*values)
torch.testing.assert_close(*(torch.autograd.grad(v_j, u_hat, weights)[0] for v_j in values))
"""


@pytest.mark.slow
def test_the_compiler_takes_it_in_one_graph():
    run = subprocess.run(
        [sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def large_tensors_kept(function, size):
    """Count the memory blocks of at least `size` numbers that autograd keeps for later."""
    kept = {}

    def pack(x):
        if x.numel() >= size:
            kept[x.untyped_storage().data_ptr()] = x
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        function()
    return len(kept)


@pytest.mark.parametrize("autocast", [False, True])
def test_a_training_step_of_the_layer_keeps_one_tensor_as_large_as_the_predictions(autocast):
    b, i, n, j, m = 4, 200, 3, 5, 8
    digit = DigitCaps(num_below=i, dim_below=n, num_above=j, dim_above=m)
    u = torch.randn(b, i, n, requires_grad=True)

    def step():
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            digit(u).sum().backward()

    assert large_tensors_kept(step, b * i * j * m) == 1
    # The count sees more where there is more: plain autograd, images one after the other.
    u_hat = predictions(b, i, j, m)
    assert large_tensors_kept(lambda: plain(u_hat), b * i * j * m) > 3


class LargeTensors(TorchDispatchMode):
    """Collect the memory blocks of `size` numbers that operations return."""

    def __init__(self, size):
        super().__init__()
        self.size, self.seen = size, {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor) and out.numel() >= self.size:
            self.seen[out.untyped_storage().data_ptr()] = out
        return out


def test_the_backward_pass_writes_one_tensor_as_large_as_the_predictions():
    u_hat = predictions(b=2, i=50, j=4, m=16).detach().requires_grad_()
    by_parent = u_hat.detach().transpose(1, 2).contiguous().requires_grad_()
    written = {}
    for name, v_j, source in (
        ("product", RoutingInOneProduct.apply(by_parent, 3)[0], by_parent),
        ("autograd", plain(u_hat), u_hat),
    ):
        with LargeTensors(u_hat.numel()) as large:
            torch.autograd.grad(v_j.sum(), source)
        large.seen.pop(source.data_ptr(), None)
        written[name] = len(large.seen)
    assert written["product"] == 1
    assert written["autograd"] >= 5


def test_on_a_gpu_neither_pass_waits_for_a_value():
    # Make-believe tensors on a make-believe GPU: they have shapes, and reading a value raises.
    with FakeTensorMode():
        u_hat = torch.randn(2, 4, 9, 3, device="cuda")
        rounds = route(u_hat, 3)
        grad = gradient_in_one_product(u_hat, *rounds, rounds[2][-1])
        assert (grad.shape, grad.device) == (u_hat.shape, u_hat.device)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="runs on a CUDA device")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_cuda_gives_what_the_cpu_gives(dtype):
    u_hat = predictions(b=3, i=100, j=10, m=16, dtype=dtype)
    on_gpu = predictions(b=3, i=100, j=10, m=16, dtype=dtype, device="cuda")
    expected = value_and_gradient(dynamic_routing, u_hat)
    found = [part.cpu() for part in value_and_gradient(dynamic_routing, on_gpu)]
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype == torch.float32 else {}
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, **tolerance)
