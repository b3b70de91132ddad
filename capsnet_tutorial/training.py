"""Train a capsule network: one loop for a laptop and for a GPU."""

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch
from jaxtyping import Float, Shaped
from torch import Tensor
from tqdm import tqdm

from capsnet_tutorial.augmentation import AUGMENTATIONS
from capsnet_tutorial.capsnet import CapsNet
from capsnet_tutorial.data import Digits
from capsnet_tutorial.devices import choose_device, place
from capsnet_tutorial.evaluation import check_fit, evaluate, predict_and_score
from capsnet_tutorial.history import Epoch, History
from capsnet_tutorial.processes import Processes
from capsnet_tutorial.training_state import Plan, TrainingState


def fit(
    model: CapsNet,
    train: Digits,
    validation: Digits | None = None,
    *,
    epochs: int = 6,
    batch_size: int = 50,
    learning_rate: float = 1e-3,
    augment: str = "shift",
    mixed_precision: bool = False,
    seed: int = 0,
    device: torch.device | str | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    on_epoch: Callable[[Epoch], None] | None = None,
    progress: bool = True,
) -> History:
    """Train `model` with Adam on shifted digits while the learning rate decays (Section 5).

    On a CPU the same seed, model and digits give the same result to the last bit, whether the
    training was interrupted or not. Where `torch.distributed` was started, all its processes call
    this alike: each takes its share of every batch, and the first one prints and writes.

    Args:
        model: the network to train, in place; it ends on the device.
        train: digits to learn from.
        validation: digits to judge each epoch by, if any.
        epochs: passes over `train`.
        batch_size: images a step, of all processes; an epoch's last step takes what is left.
        learning_rate: at the first step; from step to step it falls by one factor, down to 5%.
        augment: what happens to each image first: `"shift"` moves it by up to two pixels,
            `"affine"` also turns, stretches and shears it a little, `"none"` leaves it.
        mixed_precision: run convolutions and matrix products in bfloat16.
        seed: of the order and the shifts. The model's own first weights aren't its business.
        device: where to train; by default a CUDA GPU if there is one, else the CPU.
        checkpoint: a file to write at the start and after each epoch, if any.
        resume: go on from that file, written by the same call in another process.
        on_epoch: called with each epoch's record, for a log or a chart.
        progress: print a line an epoch and, in a terminal or a notebook, show a bar that counts the
            steps; the variable TQDM_DISABLE=1 hides the bar.

    Returns:
        The history: a record an epoch, those from before a resumption included.

    Raises:
        ValueError: if there is nothing to train on, a number is out of range, `augment` is unknown,
            images aren't of the network's shape or leave [0, 1], a label is no class of the
            network, or the checkpoint belongs to another training.
        TypeError: if the labels or a count aren't integers, or the images aren't of the weights'
            type.
        FileNotFoundError: if there is no checkpoint to resume.
        RuntimeError: if torch knows no such device.

    Source: Sabour, Frosst and Hinton (2017), Section 5: Adam, decaying learning rate, shifts.

    Differs from the paper: it gives no constants for the decay; these were chosen on a validation
    split.

    >>> from capsnet_tutorial import CapsNetConfig
    >>> model = CapsNet(CapsNetConfig.small(image_shape=(1, 17, 17), num_classes=1))
    >>> digits = Digits(torch.zeros(3, 1, 17, 17), torch.zeros(3, dtype=torch.int64))
    >>> fit(model, digits, epochs=2, progress=False).accuracies  # there is but one class
    [1.0, 1.0]
    """
    count = len(train.labels)
    plan = Plan(epochs, batch_size, learning_rate, augment, mixed_precision, seed, count)
    processes = Processes()
    processes.check_batches(count, batch_size)
    written, progress = checkpoint if processes.first else None, progress and processes.first
    for digits in filter(None, (train, validation)):
        check_fit(model, digits)
    device = choose_device(model, device)
    train, validation = train.to(device), validation and validation.to(device)
    state = TrainingState(place(model, device), plan)
    if resume:
        state.restore(checkpoint)
    elif written:
        state.save(written)
    state.network = processes.join(state.model)
    with _bar(plan, len(state.history), progress) as bar:
        for epoch in range(len(state.history) + 1, epochs + 1):
            dealt = processes.shares(batches(train, batch_size, state.generator, augment))
            means = processes.mean(train_epoch(state, dealt, bar), device)
            judged = evaluate(model, validation, device=device) if validation else None
            seen = (judged.accuracy, judged.loss) if judged else (None, None)
            state.history.append(Epoch(epoch, *means, *seen))
            if written:
                state.save(written)
            if progress:
                bar.write(str(state.history[-1]))
            if on_epoch:
                on_epoch(state.history[-1])
    return state.history


def _bar(plan: Plan, epochs_done: int, progress: bool) -> tqdm:
    """Return a bar that counts steps, hidden where nobody would see it move."""
    steps_an_epoch = plan.num_steps // plan.epochs
    ipython = sys.modules.get("IPython")
    in_notebook = ipython is not None and hasattr(ipython.get_ipython(), "kernel")
    watched = sys.stderr.isatty() or in_notebook
    hidden = {} if progress and watched else {"disable": True}  # {} leaves TQDM_DISABLE its say
    return tqdm(total=plan.num_steps, initial=epochs_done * steps_an_epoch, unit="step", **hidden)


def train_epoch(
    state: TrainingState,
    dealt: Iterable[Digits],
    bar: tqdm,
) -> list[float]:
    """Take one step for each batch, and lower the learning rate after each.

    Args:
        state: the network, its optimiser and its schedule.
        dealt: the batches.
        bar: is told of each step.

    Returns:
        Means over all images dealt: total loss, margin loss, reconstruction loss, accuracy.
    """
    model = state.network.train()
    totals, count = torch.zeros(4, device=state.generator.device), 0
    for batch in dealt:
        means = training_step(model, state.optimizer, *batch, state.plan.mixed_precision)
        # Weighing: a batch counts by its size. The sums stay on the device.
        totals += len(batch.labels) * means
        count += len(batch.labels)
        state.scheduler.step()
        bar.update()
    return (totals / count).tolist()


def batches(
    train: Digits,
    batch_size: int,
    generator: torch.Generator,
    augment: str = "shift",
) -> Iterator[Digits]:
    """Yield all digits once, in a new order, each changed a little in its own way.

    Args:
        train: the digits, on the generator's device.
        batch_size: digits at a time; the last batch takes what is left.
        generator: what to draw the order and the changes from.
        augment: a key of `AUGMENTATIONS`; the default moves each image by up to two pixels.

    >>> digits = Digits(torch.zeros(5, 1, 2, 2), torch.arange(5))
    >>> [len(batch.labels) for batch in batches(digits, 2, torch.Generator())]
    [2, 2, 1]
    """
    count, device = len(train.labels), generator.device
    # Order: a new one each time; the last batch takes what is left.
    order = torch.randperm(count, generator=generator, device=device)
    for batch in order.split(batch_size):
        images = AUGMENTATIONS[augment](train.images[batch], generator=generator)
        yield Digits(images, train.labels[batch])


def training_step(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    images: Float[Tensor, "b c h w"],
    labels: Shaped[Tensor, " b"],
    mixed_precision: bool = False,
) -> Float[Tensor, "4"]:
    """Take one step down the gradient of one batch's loss.

    Args:
        model: the network.
        optimizer: what moves its weights.
        images: `[b, c, h, w]`, on the network's device.
        labels: class numbers `[b]`.
        mixed_precision: run convolutions and matrix products in bfloat16.

    Returns:
        Means over the batch, from before the step and on its device: total loss, margin loss,
        reconstruction loss, and the share classified correctly.
    """
    # Forward: the labels choose which capsule is drawn.
    output, loss = predict_and_score(model, images, labels, mixed_precision)
    # Backward: how does the loss change with each weight? Then move the weights a little.
    optimizer.zero_grad(set_to_none=True)
    loss.total.backward()
    optimizer.step()
    # Nothing is read here: the numbers stay on the GPU.
    correct = (output.lengths.argmax(dim=1) == labels).float().mean()
    return torch.stack([*loss, correct]).detach()
