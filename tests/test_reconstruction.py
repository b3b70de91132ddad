"""Reconstruction: which capsule is drawn, the decoder's layers, and a summed squared error."""

import ast
import math
from pathlib import Path

import pytest
import torch
from torch import nn

import capsnet_tutorial
from capsnet_tutorial import Decoder, mask_capsules, reconstruction_loss, reference
from capsnet_tutorial.reconstruction import RECONSTRUCTION_WEIGHT

HALF_TYPES = [torch.float16, torch.bfloat16]


def capsules(b=4, k=5, m=3, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(b, k, m, generator=generator, dtype=torch.float64).to(dtype)


def images(b=3, c=1, h=4, w=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(b, c, h, w, generator=generator, dtype=torch.float64)


def test_without_labels_the_longest_capsule_is_kept():
    v_j = capsules()
    expected = torch.tensor([reference.mask_capsules(v) for v in v_j.tolist()]).double()
    torch.testing.assert_close(mask_capsules(v_j).float(), expected.float())
    # Length decides, not the largest component.
    v_j = torch.tensor([[[0.9, 0.0, 0.0], [0.6, 0.6, -0.6]]])
    assert mask_capsules(v_j).equal(v_j * torch.tensor([[[0.0], [1.0]]]))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_the_label_decides_whatever_the_lengths_say(dtype):
    v_j, labels = capsules(), torch.tensor([4, 0, 2, 2], dtype=dtype)
    pairs = zip(v_j.tolist(), labels.tolist(), strict=True)
    expected = torch.tensor([reference.mask_capsules(v, k) for v, k in pairs], dtype=torch.float64)
    assert mask_capsules(v_j, labels).equal(expected)
    assert not mask_capsules(v_j, labels).equal(mask_capsules(v_j))


@pytest.mark.parametrize("labels", [None, torch.tensor([4, 0, 2, 2])])
def test_masked_capsules_carry_no_gradient(labels):
    v_j = capsules().requires_grad_()
    masked = mask_capsules(v_j, labels)
    masked.sum().backward()
    assert v_j.grad.equal((masked != 0).double())


@pytest.mark.parametrize("poison", [float("nan"), float("inf"), -float("inf")])
def test_what_is_masked_does_not_leak_however_bad_it_is(poison):
    v_j = torch.full((2, 3, 4), poison)
    v_j[[0, 1], [2, 0]] = 0.5
    v_j.requires_grad_()
    masked = mask_capsules(v_j, torch.tensor([2, 0]))
    assert masked.sum() == 2 * 4 * 0.5
    masked.square().sum().backward()
    assert v_j.grad.sum() == 2 * 4 * 2 * 0.5


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_masking_keeps_the_type(dtype):
    v_j = capsules(dtype=dtype)
    assert mask_capsules(v_j).dtype == dtype
    assert mask_capsules(300 * v_j).equal(300 * mask_capsules(v_j))


@pytest.mark.parametrize(
    ("labels", "cause"),
    [
        (torch.tensor([0, 1, 2, 5]), "between 0 and 4, got 0 to 5"),
        (torch.tensor([0, -1, 2, 3]), "between 0 and 4, got -1 to 3"),
        (torch.tensor([0, 1, 2]), r"of shape \(4,\), got torch.int64 of shape \(3,\)"),
        (torch.zeros(4, 5, dtype=torch.int64), r"of shape \(4, 5\)"),
        (torch.zeros(4), "got torch.float32"),
        (torch.zeros(4, dtype=torch.bool), "got torch.bool"),
    ],
)
def test_unfit_labels_are_refused_by_their_cause(labels, cause):
    with pytest.raises(ValueError, match=cause):
        mask_capsules(capsules(), labels)


def test_unfit_capsules_are_refused_by_their_shape():
    with pytest.raises(ValueError, match=r"\[batch, class, component\], got \(4, 15\)"):
        mask_capsules(torch.zeros(4, 15))


def test_the_decoder_is_the_paper_s():
    layers = Decoder(10, 16, (1, 28, 28)).layers
    assert [type(layer) for layer in layers] == [
        nn.Flatten,
        *(nn.Linear, nn.ReLU),
        *(nn.Linear, nn.ReLU),
        *(nn.Linear, nn.Sigmoid),
        nn.Unflatten,
    ]
    sizes = [(x.in_features, x.out_features) for x in layers if isinstance(x, nn.Linear)]
    assert sizes == [(160, 512), (512, 1024), (1024, 784)]


def test_drawn_images_lie_between_0_and_1_in_the_image_s_shape():
    drawn = Decoder(3, 4, (3, 17, 20))(100 * capsules(2, 3, 4, torch.float32))
    assert drawn.shape == (2, 3, 17, 20)
    assert ((drawn >= 0) & (drawn <= 1)).all()
    assert drawn.unique().numel() > 100


def test_pixels_are_summed_and_the_batch_is_averaged():
    drawn = torch.zeros(2, 1, 2, 2)
    target = torch.tensor([[[[0.5, 0.5], [0.0, 1.0]]], [[[0.0, 0.0], [0.0, 0.1]]]])
    assert reconstruction_loss(drawn, target).item() == pytest.approx((1.5 + 0.01) / 2)


@pytest.mark.parametrize("shape", [(1, 1, 2, 2), (3, 1, 4, 5), (5, 3, 2, 7)])
def test_the_loss_equals_the_plain_loops(shape):
    drawn, target = images(*shape), images(*shape, seed=1)
    pairs = zip(drawn.flatten(1).tolist(), target.flatten(1).tolist(), strict=True)
    losses = [reference.reconstruction_loss(x, y) for x, y in pairs]
    assert reconstruction_loss(drawn, target).item() == pytest.approx(
        math.fsum(losses) / len(losses)
    )


def test_the_gradient_matches_finite_differences():
    drawn, target = images().requires_grad_(), images(seed=1)
    assert torch.autograd.gradcheck(lambda x: reconstruction_loss(x, target), drawn)


@pytest.mark.parametrize("dtype", HALF_TYPES)
@pytest.mark.parametrize("target_is_half", [False, True])
def test_half_types_give_a_float32_loss_that_is_right(dtype, target_is_half):
    # 70,000 errors of 1: the sum leaves float16, and bfloat16 would stop counting at 256.
    drawn = torch.zeros(1, 1, 700, 100, dtype=dtype)
    target = torch.ones(1, 1, 700, 100, dtype=dtype if target_is_half else torch.float32)
    loss = reconstruction_loss(drawn, target)
    assert loss.dtype == torch.float32
    assert loss == 70_000
    with torch.autocast("cpu", torch.bfloat16):
        assert reconstruction_loss(drawn, target) == 70_000


@pytest.mark.parametrize(
    ("drawn", "target"),
    [
        (images(), images()[:, :, :, :1]),
        (images(), images()[:1]),
        (images(), images().flatten(1)),
        (images(b=0), images(b=0)),
    ],
)
def test_shapes_are_never_broadcast_and_an_empty_batch_is_refused(drawn, target):
    with pytest.raises(ValueError, match="same shape and hold at least one image, got"):
        reconstruction_loss(drawn, target)


@pytest.mark.parametrize("wrong", [255.0, 1.001, -0.001, -0.4242, float("nan")])
def test_one_pixel_outside_0_to_1_is_refused_with_the_cure(wrong):
    target = images()
    target[1, 0, 2, 3] = wrong
    with pytest.raises(ValueError, match=r"between 0 and 1, got .* divide bytes by 255"):
        reconstruction_loss(images(), target)


def test_bytes_are_refused():
    with pytest.raises(TypeError, match="floating point"):
        reconstruction_loss(images(), images().byte())


def test_the_weight_of_reconstruction_is_written_in_one_place():
    assert RECONSTRUCTION_WEIGHT == 0.0005
    found = [
        path.name
        for path in Path(capsnet_tutorial.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value == RECONSTRUCTION_WEIGHT
    ]
    assert found == ["reconstruction.py"]
