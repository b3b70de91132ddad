"""Training and judging: what is averaged, what repeats, and that something is learned."""

import math
import sys
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

from capsnet_tutorial import (
    CapsNet,
    CapsNetConfig,
    Digits,
    capsnet_loss,
    evaluate,
    evaluation,
    fit,
    random_shift,
    sample_digits,
    split,
    training,
)
from capsnet_tutorial.devices import choose_device
from capsnet_tutorial.evaluation import predict_and_score
from capsnet_tutorial.training_state import FINAL_LEARNING_RATE

CONFIG = CapsNetConfig.small(
    conv_channels=4, primary_types=2, image_shape=(1, 17, 17), num_classes=3
)


def small_model(seed=0, config=CONFIG):
    torch.manual_seed(seed)
    return CapsNet(config)


def random_digits(count, seed=1):
    generator = torch.Generator().manual_seed(seed)
    images = torch.rand(count, 1, 17, 17, generator=generator)
    return Digits(images, torch.arange(count) % CONFIG.num_classes)


def test_evaluate_takes_the_mean_over_images_however_they_are_batched():
    model, digits = small_model(), random_digits(7)
    whole = evaluate(model, digits, batch_size=7)
    with torch.no_grad():
        expected = capsnet_loss(model(digits.images, digits.labels), digits.images, digits.labels)
    assert whole.loss == pytest.approx(expected.total.item(), rel=1e-6)
    for batch_size in (1, 2, 3, 100):
        parts = evaluate(model, digits, batch_size)
        assert parts.loss == pytest.approx(whole.loss, rel=1e-6)
        assert parts.accuracy == whole.accuracy
        torch.testing.assert_close(parts.lengths, whole.lengths)


def test_accuracy_is_the_share_whose_longest_capsule_is_the_label(monkeypatch):
    lengths = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.3, 0.1], [0.1, 0.2, 0.8], [0.5, 0.1, 0.1]])
    capsules = torch.nn.functional.pad(lengths.unsqueeze(2), (0, CONFIG.digit_dim - 1))
    model = small_model(config=CapsNetConfig.small(**vars(CONFIG) | {"reconstruction": False}))
    monkeypatch.setattr(model.digit, "forward", lambda u: capsules)
    digits = Digits(torch.zeros(4, 1, 17, 17), torch.tensor([0, 1, 2, 2]))
    assert evaluate(model, digits).accuracy == 0.75


def test_the_recorded_losses_are_means_over_images_with_a_short_last_batch(monkeypatch):
    model, digits = small_model(), random_digits(5)
    monkeypatch.setattr(torch.optim.Adam, "step", lambda self, closure=None: None)
    # With frozen weights the mean over batches of 3 and 2 is the mean over all five.
    [epoch] = fit(model, digits, epochs=1, batch_size=3, augment="none")
    assert epoch.loss == pytest.approx(evaluate(model, digits).loss, rel=1e-5)
    assert epoch.accuracy == pytest.approx(evaluate(model, digits).accuracy)
    assert epoch.loss == pytest.approx(epoch.margin_loss + 0.0005 * epoch.reconstruction_loss)


def test_the_same_seed_gives_the_same_network_to_the_last_bit():
    models = [small_model() for _ in range(3)]
    for model, seed in zip(models, (0, 0, 1), strict=True):
        fit(model, random_digits(12), epochs=2, batch_size=5, seed=seed)
    first, again, other = (torch.cat([p.flatten() for p in m.parameters()]) for m in models)
    assert first.equal(again)
    assert not first.equal(other)


def test_fit_leaves_the_global_random_state_alone():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    model = small_model(seed=3)
    torch.set_rng_state(before)
    fit(model, random_digits(6), epochs=1)
    assert torch.get_rng_state().equal(before)


def test_the_learning_rate_falls_exponentially_to_its_last_fraction(monkeypatch):
    rates = []
    original = torch.optim.Adam.step

    def recording(self, closure=None):
        rates.append(self.param_groups[0]["lr"])
        return original(self, closure)

    monkeypatch.setattr(torch.optim.Adam, "step", recording)
    fit(small_model(), random_digits(10), epochs=4, batch_size=3, learning_rate=0.01)
    assert len(rates) == 16
    ratios = [later / earlier for earlier, later in pairwise(rates)]
    assert rates[0] == 0.01
    assert max(ratios) - min(ratios) < 1e-9
    assert rates[-1] * ratios[0] == pytest.approx(0.01 * FINAL_LEARNING_RATE)


def test_each_epoch_is_judged_on_the_validation_digits_and_reported():
    seen, model, validation = [], small_model(), random_digits(9, seed=2)
    history = fit(model, random_digits(6), validation, epochs=2, on_epoch=seen.append)
    assert seen == history
    assert [epoch.epoch for epoch in history] == [1, 2]
    assert history[-1].validation_accuracy == evaluate(model, validation).accuracy
    assert fit(model, random_digits(6), epochs=1)[0].validation_accuracy is None


def test_evaluation_changes_neither_weights_nor_training(monkeypatch):
    with_validation, without = small_model(), small_model()
    fit(with_validation, random_digits(8), random_digits(5), epochs=2)
    fit(without, random_digits(8), epochs=2)
    for a, b in zip(with_validation.parameters(), without.parameters(), strict=True):
        assert a.equal(b)


def test_black_images_and_a_batch_of_one_leave_all_weights_finite():
    model = small_model()
    fit(model, Digits(torch.zeros(3, 1, 17, 17), torch.arange(3)), epochs=3, batch_size=2)
    assert all(weight.isfinite().all() for weight in model.parameters())


def test_mixed_precision_trains_and_keeps_the_weights_in_float32():
    model = small_model()
    history = fit(model, random_digits(9), epochs=2, mixed_precision=True)
    assert all(math.isfinite(epoch.loss) for epoch in history)
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}


def test_the_record_of_an_epoch_holds_the_validation_loss_too():
    model, validation = small_model(), random_digits(9, seed=2)
    history = fit(model, random_digits(6), validation, epochs=1)
    assert history[0].validation_loss == evaluate(model, validation).loss
    assert fit(model, random_digits(6), epochs=1)[0].validation_loss is None


def test_a_terminal_sees_a_bar_and_a_line_an_epoch(capsys, monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    history = fit(small_model(), random_digits(7), random_digits(3), epochs=2, batch_size=3)
    printed = capsys.readouterr()
    assert "6/6" in printed.err
    assert printed.out.splitlines() == [str(epoch) for epoch in history]
    assert printed.out.startswith("epoch 1: loss 0.")


@pytest.mark.parametrize("shell", [SimpleNamespace(kernel="a kernel"), SimpleNamespace(), None])
def test_a_notebook_sees_a_bar(shell, capsys, monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    fit(small_model(), random_digits(7), epochs=2, batch_size=3)
    assert ("6/6" in capsys.readouterr().err) == hasattr(shell, "kernel")


def test_a_log_gets_a_line_an_epoch_and_nothing_else(capsys):
    import ipykernel  # noqa: F401  # as a tool may that starts notebooks and is none

    fit(small_model(), random_digits(7), epochs=2)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert [line.split(":")[0] for line in printed.out.splitlines()] == ["epoch 1", "epoch 2"]
    fit(small_model(), random_digits(7), epochs=2, progress=False)
    assert capsys.readouterr() == ("", "")


def test_the_history_gives_each_figure_of_all_epochs():
    history = fit(small_model(), random_digits(7), random_digits(3), epochs=2)
    assert history.losses == [history[0].loss, history[1].loss]
    assert history.accuracies == [epoch.accuracy for epoch in history]
    assert history.validation_losses == [epoch.validation_loss for epoch in history]
    assert history.validation_accuracies == [epoch.validation_accuracy for epoch in history]


def test_the_learning_rate_ends_at_a_twentieth():
    assert FINAL_LEARNING_RATE == 0.05


def test_mixed_precision_reaches_every_step():
    whole, mixed = small_model(), small_model()
    fit(whole, random_digits(9), epochs=1)
    fit(mixed, random_digits(9), epochs=1, mixed_precision=True)
    assert not whole.digit.weight.equal(mixed.digit.weight)


def test_a_step_counts_what_is_read_correctly_and_keeps_no_graph():
    model = small_model()
    with torch.no_grad():
        model.digit.weight[:, :2] = 0  # classes 0 and 1 have zero capsules: all is read as 2
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    means = training.training_step(model, optimizer, *random_digits(9))
    assert means[3].item() == pytest.approx(1 / 3)
    assert not means.requires_grad


def test_adam_is_given_every_weight(monkeypatch):
    model = small_model()
    before = [weight.detach().clone() for weight in model.parameters()]
    fit(model, random_digits(9), epochs=1)
    for old, new in zip(before, model.parameters(), strict=True):
        assert not old.equal(new)


def test_gradients_do_not_add_up_from_step_to_step(monkeypatch):
    model, seen = small_model(), []
    digits = random_digits(4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    for _ in range(2):
        training.training_step(model, optimizer, *digits)
        seen.append(model.digit.weight.grad.clone())
    torch.testing.assert_close(seen[0], seen[1])


def test_an_epoch_trains_in_training_mode_and_evaluates_in_the_other(monkeypatch):
    model, modes = small_model(), []
    original = model.forward

    def note(*arguments):
        modes.append(model.training)
        return original(*arguments)

    monkeypatch.setattr(model, "forward", note)
    fit(model, random_digits(3), random_digits(3), epochs=2)
    assert modes == [True, False] * 2


def test_validation_digits_are_looked_at_before_the_first_step(monkeypatch):
    monkeypatch.setattr(torch.optim.Adam, "step", lambda *_: pytest.fail("a step was taken"))
    bad = Digits(torch.full((2, 1, 17, 17), 255.0), torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="divide bytes by 255"):
        fit(small_model(), random_digits(6), bad, epochs=1)


def test_judging_stays_on_the_device_that_training_was_asked_for(monkeypatch):
    asked = []

    def note(model, device=None):
        asked.append(device)
        return choose_device(model, device)

    monkeypatch.setattr(evaluation, "choose_device", note)
    fit(small_model(), random_digits(3), random_digits(3), epochs=1, device="cpu")
    assert asked == [torch.device("cpu")]


def test_a_gpu_is_taken_if_there_is_one_and_no_other_is_asked_for(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    on_cpu, elsewhere = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1, device="meta")
    assert choose_device(on_cpu).type == "cuda"
    assert choose_device(on_cpu, "cpu").type == "cpu"
    assert choose_device(elsewhere).type == "meta"


def test_batches_deal_out_every_digit_once_and_the_last_takes_what_is_left():
    digits = Digits(torch.arange(7.0).reshape(7, 1, 1, 1) / 7, torch.arange(7))
    dealt = list(training.batches(digits, 3, torch.Generator().manual_seed(0), "none"))
    assert [len(labels) for _, labels in dealt] == [3, 3, 1]
    images, labels = (torch.cat(parts) for parts in zip(*dealt, strict=True))
    assert sorted(labels.tolist()) == list(range(7))
    assert labels.tolist() != list(range(7))
    assert (images.flatten() * 7).round().long().equal(labels)


@pytest.mark.parametrize("config", [CONFIG, CapsNetConfig()], ids=["tiny", "paper"])
def test_on_a_gpu_nothing_of_a_step_waits_for_a_value(config):
    # Make-believe tensors on a make-believe GPU: they have shapes, and reading a value raises.
    with FakeTensorMode():
        with torch.device("cuda"):
            model = CapsNet(config)
            images = torch.rand(4, *config.image_shape)
            labels = torch.zeros(4, dtype=torch.int64)
        images = random_shift(images)
        output, loss = predict_and_score(model, images, labels)
        assert loss.total.device.type == "cuda"
        assert output.lengths.shape == (4, config.num_classes)
        capsnet_loss(output, images, torch.rand(4, config.num_classes, device="cuda"))
        model(images)
        with pytest.raises(DataDependentOutputException):
            loss.total.item()


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="trains on a CUDA device")
def test_steps_on_a_gpu_do_not_synchronise():
    model = small_model().cuda()
    digits = random_digits(8).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    generator = torch.Generator("cuda").manual_seed(0)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for images, labels in training.batches(digits, 3, generator):
            training.training_step(model, optimizer, images, labels, mixed_precision=True)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize(
    ("images", "labels", "said"),
    [
        (torch.full((2, 1, 17, 17), 255.0), torch.tensor([0, 1]), "divide bytes by 255"),
        (torch.full((2, 1, 17, 17), math.nan), torch.tensor([0, 1]), "between 0 and 1"),
        (torch.zeros(2, 1, 17, 17), torch.tensor([0, 3]), "between 0 and 2, got 0 to 3"),
        (torch.zeros(2, 1, 17, 17), torch.tensor([-1, 1]), "got -1 to 1"),
        (torch.zeros(2, 1, 17, 17), torch.tensor([1]), "a label for each"),
    ],
)
def test_unfit_digits_are_refused_before_the_first_step(images, labels, said):
    digits = Digits(images, labels)
    for use in (fit, evaluate):
        with pytest.raises(ValueError, match=said):
            use(small_model(), digits)


@pytest.mark.parametrize(
    ("images", "error", "said"),
    [
        (torch.zeros(2, 1, 19, 17), ValueError, r"shape \(1, 17, 17\), got \(1, 19, 17\)"),
        (torch.zeros(2, 17, 17), ValueError, r"shape \(1, 17, 17\), got \(17, 17\)"),
        (torch.zeros(2, 1, 17, 17).double(), TypeError, r"use \.to\(torch\.float32\)"),
        (torch.zeros(2, 1, 17, 17).half(), TypeError, "must be torch.float32"),
        (torch.zeros(2, 1, 17, 17).byte(), TypeError, "got torch.uint8"),
    ],
)
def test_images_that_the_network_can_not_take_leave_the_checkpoint_as_it_is(
    images, error, said, tmp_path
):
    bad, kept = Digits(images, torch.tensor([0, 1])), tmp_path / "kept.pt"
    kept.write_bytes(b"mine")
    for train, validation in ((bad, None), (random_digits(3), bad)):
        with pytest.raises(error, match=said):
            fit(small_model(), train, validation, epochs=1, checkpoint=kept)
    assert kept.read_bytes() == b"mine"
    with pytest.raises(error, match=said):
        evaluate(small_model(), bad)


@pytest.mark.parametrize(
    ("count", "options"), [(0, {}), (3, {"epochs": 0}), (3, {"batch_size": 0})]
)
def test_nothing_to_train_on_is_refused(count, options):
    with pytest.raises(ValueError, match="at least one digit, one epoch and one image a batch"):
        fit(small_model(), random_digits(count), **options)


def test_nothing_to_evaluate_is_refused():
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        evaluate(small_model(), random_digits(3), batch_size=0)
    with pytest.raises(ValueError, match="at least one digit"):
        evaluate(small_model(), random_digits(0))


@pytest.mark.slow
def test_200_steps_on_the_sample_digits_beat_80_percent():
    train, held_out = sample_digits()
    model = small_model(config=CapsNetConfig.small())
    _, some = split(train, 800)
    fit(model, some, epochs=5, batch_size=20)
    assert evaluate(model, held_out).accuracy > 0.8
