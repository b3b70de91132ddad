"""The wrong ways to train and to average: each shows its fault beside the right one."""

import pytest
import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, Digits, evaluate, fit, random_shift
from capsnet_tutorial.mistakes import fit_by_test_loss, mean_of_batch_means, shift_whole_batch

CONFIG = CapsNetConfig.small(
    conv_channels=4, primary_types=2, image_shape=(1, 17, 17), num_classes=3
)


def digits(count, seed):
    images = torch.rand(count, 1, 17, 17, generator=torch.Generator().manual_seed(seed))
    return Digits(images, torch.arange(count) % 3)


def test_a_mean_of_batch_means_depends_on_the_batches_and_ours_does_not():
    values = torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0])
    assert mean_of_batch_means(values, 5) == pytest.approx(0.8)
    assert mean_of_batch_means(values, 4) == pytest.approx(0.5)
    torch.manual_seed(0)
    model = CapsNet(CONFIG)
    right = [evaluate(model, digits(5, 0), batch_size).accuracy for batch_size in (4, 5)]
    assert right[0] == right[1]


def test_a_whole_batch_moved_at_once_shows_one_move_only():
    copies = torch.eye(9).expand(60, 1, 9, 9)
    together = shift_whole_batch(copies, 2, torch.Generator().manual_seed(0))
    assert len(together.flatten(1).unique(dim=0)) == 1
    apart = random_shift(copies, 2, torch.Generator().manual_seed(0))
    assert len(apart.flatten(1).unique(dim=0)) > 10


def test_a_rate_that_follows_the_test_loss_lets_test_labels_change_the_network():
    test = digits(30, 1)
    other = test._replace(labels=(test.labels + 1) % 3)
    weights = {}
    for name, held in (("true", test), ("other", other)):
        torch.manual_seed(0)
        followed, planned = CapsNet(CONFIG), CapsNet(CONFIG)
        rates = fit_by_test_loss(followed, digits(100, 0), held, epochs=20)
        fit(planned, digits(100, 0), held, epochs=2)
        weights[name] = (followed.digit.weight, planned.digit.weight, rates)
    assert weights["true"][2] != weights["other"][2]
    assert not weights["true"][0].equal(weights["other"][0])
    assert weights["true"][1].equal(weights["other"][1])
