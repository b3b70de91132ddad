"""Each wrong variant shows its fault, and where it isn't wrong it agrees with the right one."""

import pytest
import torch

from capsnet_tutorial import mistakes, squash

SQUASHES = [
    mistakes.squash_literal,
    mistakes.squash_epsilon_inside,
    mistakes.squash_epsilon_outside,
    mistakes.squash_narrow,
]


@pytest.mark.parametrize("wrong", SQUASHES)
def test_wrong_squashes_are_right_for_ordinary_vectors(wrong):
    s = torch.randn(100, 8, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(wrong(s), squash(s), atol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "value_is_nan", "gradient_is_nan"),
    [
        (mistakes.squash_literal, True, True),
        (mistakes.squash_epsilon_inside, False, False),
        (mistakes.squash_epsilon_outside, False, True),
        (mistakes.squash_narrow, False, False),
        (squash, False, False),
    ],
)
def test_squash_at_zero(wrong, value_is_nan, gradient_is_nan):
    s = torch.zeros(3, requires_grad=True)
    v = wrong(s)
    (gradient,) = torch.autograd.grad(v.sum(), s)
    assert v.isnan().all().item() == value_is_nan
    assert gradient.isnan().all().item() == gradient_is_nan
    if not value_is_nan:
        assert v.eq(0).all()


def test_epsilon_inside_the_root_shortens_short_vectors():
    s = torch.tensor([0.6e-4, 0.8e-4])
    assert mistakes.squash_epsilon_inside(s).norm() < 0.31 * squash(s).norm()
    assert mistakes.squash_epsilon_outside(s).norm() > 0.99 * squash(s).norm()


@pytest.mark.parametrize("wrong", SQUASHES)
def test_wrong_squashes_lose_long_vectors_in_float16(wrong):
    s = torch.tensor([192.0, 256.0], dtype=torch.float16)
    assert squash(s).float().norm() == pytest.approx(1, abs=1e-3)
    v = wrong(s)
    assert v.eq(0).all() if wrong is mistakes.squash_narrow else v.isnan().all()
