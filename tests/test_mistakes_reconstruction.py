"""The wrong ways to reconstruct: each shows its fault beside the right one."""

import pytest
import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, capsnet_loss, reconstruction_loss
from capsnet_tutorial.mistakes import CapsNetDrawingItsGuess, loss_with_mean, reconstruction_mean
from capsnet_tutorial.reconstruction import RECONSTRUCTION_WEIGHT

CONFIG = CapsNetConfig.small(
    conv_channels=4, primary_types=2, image_shape=(1, 17, 18), num_classes=3
)
PIXELS = 17 * 18


@pytest.fixture
def images():
    return torch.rand(4, 1, 17, 18, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def labels():
    return torch.tensor([0, 1, 2, 1])


def build(kind):
    torch.manual_seed(0)
    return kind(CONFIG)


def test_the_mean_is_the_sum_divided_by_the_pixels(images):
    drawn = images.flip(0)
    right = reconstruction_loss(drawn, images)
    assert reconstruction_mean(drawn, images).item() == pytest.approx(right.item() / PIXELS)


def test_with_the_mean_only_the_weight_of_reconstruction_changes(images, labels):
    output = build(CapsNet)(images, labels)
    right, wrong = (loss(output, images, labels) for loss in (capsnet_loss, loss_with_mean))
    assert wrong[1:] == right[1:]
    weighted = RECONSTRUCTION_WEIGHT * right.reconstruction
    assert (right.total - right.margin).item() == pytest.approx(weighted.item(), rel=1e-3)
    left = (wrong.total - wrong.margin).item()
    assert left == pytest.approx(weighted.item() / PIXELS, rel=0.01)


def test_drawing_the_guess_teaches_the_longest_capsule_and_ours_the_true_one(images, labels):
    for kind in (CapsNet, CapsNetDrawingItsGuess):
        model = build(kind)
        capsules = model(images).capsules.detach().requires_grad_()
        reconstruction_loss(model.decode(capsules, labels), images).backward()
        taught = capsules.grad.abs().sum(dim=2) > 0
        guess = capsules.norm(dim=2).argmax(dim=1)
        expected = labels if kind is CapsNet else guess
        assert taught.equal(torch.nn.functional.one_hot(expected, 3).bool())
        assert not guess.equal(labels)


def test_both_networks_draw_alike_without_labels(images):
    right, wrong = (
        build(kind)(images).reconstruction for kind in (CapsNet, CapsNetDrawingItsGuess)
    )
    assert right.equal(wrong)
