"""A training that was interrupted goes on as if nothing had happened."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, Digits, fit, load_checkpoint, save_checkpoint
from capsnet_tutorial.training_state import Plan, TrainingState, saved_history

CONFIG = CapsNetConfig.small(
    conv_channels=4, primary_types=2, image_shape=(1, 17, 17), num_classes=3
)
PLAN = {"epochs": 4, "batch_size": 4, "progress": False}


class InterruptedTrainingError(Exception):
    """What stands for Ctrl-C."""


def network():
    torch.manual_seed(0)
    return CapsNet(CONFIG)


def digits(count=10):
    images = torch.rand(count, 1, 17, 17, generator=torch.Generator().manual_seed(1))
    return Digits(images, torch.arange(count) % 3)


def weights(model):
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


def interrupt_after(epochs):
    def look(epoch):
        if epoch.epoch == epochs:
            raise InterruptedTrainingError

    return look


@pytest.mark.parametrize("epochs", [1, 2, 3])
def test_an_interrupted_training_ends_where_a_whole_one_does(tmp_path, epochs):
    whole, parts = network(), network()
    history = fit(whole, digits(), digits(5), **PLAN)
    options = PLAN | {"checkpoint": tmp_path / "a.pt"}
    with pytest.raises(InterruptedTrainingError):
        fit(parts, digits(), digits(5), **options, on_epoch=interrupt_after(epochs))
    torch.manual_seed(99)
    other = CapsNet(CONFIG)  # whatever its first weights are, the checkpoint's take their place
    assert fit(other, digits(), digits(5), **options, resume=True) == history
    assert weights(other).equal(weights(whole))


@pytest.mark.parametrize("last", [2, 5])  # in the first epoch, and in the second
def test_an_epoch_that_was_cut_short_is_begun_again(tmp_path, monkeypatch, last):
    whole, parts = network(), network()
    fit(whole, digits(), **PLAN)
    options = PLAN | {"checkpoint": tmp_path / "a.pt"}
    step, count = torch.optim.Adam.step, [0]

    def fail_at_the_last(self, closure=None):
        count[0] += 1
        if count[0] == last:
            raise KeyboardInterrupt
        return step(self, closure)

    with monkeypatch.context() as patched:
        patched.setattr(torch.optim.Adam, "step", fail_at_the_last)
        with pytest.raises(KeyboardInterrupt):
            fit(parts, digits(), **options)
    fit(parts, digits(), **options, resume=True)
    assert weights(parts).equal(weights(whole))


@pytest.mark.slow
def test_a_new_process_goes_on_to_the_last_bit(tmp_path):
    path = tmp_path / "a.pt"
    model, options = network(), PLAN | {"checkpoint": path}
    with pytest.raises(InterruptedTrainingError):
        fit(model, digits(), **options, on_epoch=interrupt_after(2))
    code = (
        "import sys, torch; from capsnet_tutorial import *;"
        "images = torch.rand(10, 1, 17, 17, generator=torch.Generator().manual_seed(1));"
        "model = load_checkpoint(sys.argv[1]).model;"
        "fit(model, Digits(images, torch.arange(10) % 3), epochs=4, batch_size=4,"
        " checkpoint=sys.argv[1], resume=True)"
    )
    command = [sys.executable, "-c", code, str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [line.split(":")[0] for line in printed.splitlines()] == ["epoch 3", "epoch 4"]
    whole = network()
    fit(whole, digits(), **PLAN)
    assert weights(load_checkpoint(path).model).equal(weights(whole))


def test_a_finished_training_trains_nothing(tmp_path, monkeypatch):
    model, options = network(), PLAN | {"checkpoint": tmp_path / "a.pt"}
    history = fit(model, digits(), **options)
    monkeypatch.setattr(torch.optim.Adam, "step", lambda *_: pytest.fail("a step was taken"))
    assert fit(network(), digits(), **options, resume=True) == history


def test_a_checkpoint_knows_the_epochs_it_has_seen(tmp_path):
    history = fit(network(), digits(), digits(5), **PLAN, checkpoint=tmp_path / "a.pt")
    assert saved_history(tmp_path / "a.pt") == history
    save_checkpoint(tmp_path / "b.pt", network())
    with pytest.raises(ValueError, match="no training that could go on"):
        saved_history(tmp_path / "b.pt")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epochs": 5}, "epochs 4, not 5"),
        ({"seed": 1}, "seed 0, not 1"),
        ({"augment": "none"}, "augment shift, not none"),
    ],
)
def test_another_training_is_not_resumed(tmp_path, change, said):
    options = PLAN | {"checkpoint": tmp_path / "a.pt"}
    fit(network(), digits(), **options)
    before = (tmp_path / "a.pt").read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another training, with {said}"):
        fit(network(), digits(), **options | change, resume=True)
    with pytest.raises(ValueError, match="num_digits 10, not 9"):
        fit(network(), digits(9), **options, resume=True)
    assert (tmp_path / "a.pt").read_bytes() == before


def test_another_network_or_device_is_not_resumed(tmp_path):
    options = PLAN | {"checkpoint": tmp_path / "a.pt"}
    fit(network(), digits(), **options)
    other = CapsNet(replace(CONFIG, num_iterations=2))
    with pytest.raises(ValueError, match="another training, with network CapsNetConfig"):
        fit(other, digits(), **options, resume=True)
    model, extra = load_checkpoint(tmp_path / "a.pt")
    extra["training"]["plan"]["device"] = "cuda"
    save_checkpoint(tmp_path / "a.pt", model, **extra)
    with pytest.raises(ValueError, match="another training, with device cuda, not cpu"):
        fit(network(), digits(), **options, resume=True)


def test_the_schedule_goes_on_where_it_was(tmp_path):
    plan = Plan(2, 5, 0.1, "none", False, 0, num_digits=10)
    before = TrainingState(network(), plan)
    for _ in range(3):
        before.optimizer.step()
        before.scheduler.step()
    before.save(tmp_path / "a.pt")
    after = TrainingState(network(), plan)
    after.restore(tmp_path / "a.pt")
    assert after.scheduler.last_epoch == 3
    assert after.scheduler.get_last_lr() == before.scheduler.get_last_lr()


def test_what_can_not_be_resumed_is_named(tmp_path):
    with pytest.raises(ValueError, match="name the checkpoint"):
        fit(network(), digits(), **PLAN, resume=True)
    with pytest.raises(FileNotFoundError, match="there is no checkpoint at"):
        fit(network(), digits(), **PLAN, checkpoint=tmp_path / "a.pt", resume=True)
    save_checkpoint(tmp_path / "b.pt", network())
    with pytest.raises(ValueError, match="no training that could go on"):
        fit(network(), digits(), **PLAN, checkpoint=tmp_path / "b.pt", resume=True)


FOREIGN = {
    "text": "a text",
    "nothing": None,
    "empty": {},
    "no generator": {"generator": None},
    "bad generator": {"generator": torch.zeros(3)},
    "no epochs": {"history": [1, 2]},
    "other epochs": {"history": [{"epoch": 1}]},
    "no optimizer": {"optimizer": {}},
    "other optimizer": {"optimizer": {"state": {}, "param_groups": [{"params": [0]}]}},
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_training_that_fit_did_not_write_is_named(tmp_path, name):
    options = PLAN | {"checkpoint": tmp_path / "a.pt"}
    fit(network(), digits(), **options)
    model, extra = load_checkpoint(tmp_path / "a.pt")
    change = FOREIGN[name]
    training = extra["training"] | change if isinstance(change, dict) and change else change
    save_checkpoint(tmp_path / "a.pt", model, training=training)
    with pytest.raises(ValueError, match=r"a\.pt holds a training that fit did not write \(\w"):
        fit(network(), digits(), **options, resume=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be above 0"),
        ({"learning_rate": float("inf")}, "learning_rate must be above 0 and finite"),
        ({"batch_size": 10**400}, r"must be below 2\^63"),
        ({"epochs": 2**63}, r"must be below 2\^63"),
        ({"augment": "mirror"}, "augment must be one of shift, affine, none, got 'mirror'"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(change, said):
    plan = {
        "epochs": 1,
        "batch_size": 1,
        "learning_rate": 0.1,
        "augment": "none",
        "mixed_precision": False,
        "seed": 0,
        "num_digits": 1,
    }
    with pytest.raises(ValueError, match=said):
        Plan(**plan | change)


@pytest.mark.slow
def test_counts_and_choices_of_another_type_are_refused_by_name():
    # In a process of its own, where no type checker speaks first.
    code = """
from capsnet_tutorial import CapsNetConfig
from capsnet_tutorial.options import Options, choose_options
from capsnet_tutorial.training_state import Plan

def said(make, **words):
    try:
        make(**words)
    except (TypeError, ValueError) as error:
        print(error)

plan = dict(epochs=1, batch_size=2, seed=0, learning_rate=1e-3, augment="none")
plan |= dict(mixed_precision=False, num_digits=3)
said(Plan, **plan | {"batch_size": 2.5})
said(Options, **vars(choose_options({"device": "cpu"})) | {"epochs": "1"})
said(CapsNetConfig, stop_gradient="no")
said(CapsNetConfig, image_shape=28)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.stdout.splitlines() == [
        "batch_size must be a whole number, got 2.5",
        "epochs must be of type int, not '1'",
        "stop_gradient must be True or False, got 'no'",
        "image_shape must be (channels, height, width), got 28",
    ]
