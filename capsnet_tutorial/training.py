"""Train and judge a capsule network: one loop for a laptop and for a GPU."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float, Shaped
from torch import Tensor
from tqdm import tqdm

from capsnet_tutorial.capsnet import CapsNet, CapsNetLoss, CapsNetOutput, capsnet_loss
from capsnet_tutorial.data import Digits, check_digits, shift

FINAL_LEARNING_RATE = 0.05
"""Fraction of the first learning rate that is left at the last step."""


class Epoch(NamedTuple):
    """What one epoch of `fit` did; losses are means over all its images."""

    epoch: int
    loss: float
    margin_loss: float
    reconstruction_loss: float
    accuracy: float
    validation_accuracy: float | None
    validation_loss: float | None


class Evaluation(NamedTuple):
    """How a network does on some digits; `lengths` are its digit capsules', `[b, k]`."""

    loss: float
    accuracy: float
    lengths: Float[Tensor, "b k"]


def fit(
    model: CapsNet,
    train: Digits,
    validation: Digits | None = None,
    *,
    epochs: int = 6,
    batch_size: int = 50,
    learning_rate: float = 1e-3,
    max_shift: int = 2,
    mixed_precision: bool = False,
    seed: int = 0,
    on_epoch: Callable[[Epoch], None] | None = None,
    progress: bool = False,
) -> list[Epoch]:
    """Train `model` with Adam on shifted digits while the learning rate decays (Section 5).

    The model stays on its device, and the digits are brought there. On a CPU the same seed, model
    and digits give the same result to the last bit.

    Args:
        model: the network to train, in place.
        train: digits to learn from.
        validation: digits to judge each epoch by, if any.
        epochs: passes over `train`.
        batch_size: images a step; the last step of an epoch takes what is left.
        learning_rate: at the first step; it falls to 5% of that at the last.
        max_shift: how far each image may move, in pixels.
        mixed_precision: run convolutions and matrix products in bfloat16.
        seed: of the order and the shifts. The model's own first weights aren't its business.
        on_epoch: called with each epoch's record, for a log or a chart.
        progress: show a bar that counts the steps; the variable TQDM_DISABLE=1 hides it again.

    Returns:
        A record an epoch.

    Raises:
        ValueError: if there is nothing to train on, `epochs` or `batch_size` is below 1, images
            leave [0, 1], or a label is no class of the network.

    Differs from the paper: it gives no constants for the decay; these were chosen on a validation
    split.
    """
    if min(len(train.labels), epochs, batch_size) < 1:
        raise ValueError(
            "fit needs at least one digit, one epoch and one image a batch, got "
            f"{len(train.labels)}, {epochs} and {batch_size}"
        )
    check_digits(train, model.config.num_classes)
    device = _device(model)
    train = train.to(device)
    validation = validation and validation.to(device)
    generator = torch.Generator(device).manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    num_steps = epochs * -(-len(train.labels) // batch_size)
    decay = FINAL_LEARNING_RATE ** (1 / num_steps)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, decay)

    history = []
    with tqdm(total=num_steps, unit="step", **({} if progress else {"disable": True})) as bar:
        for epoch in range(1, epochs + 1):
            dealt = batches(train, batch_size, max_shift, generator)
            means = train_epoch(model, optimizer, scheduler, dealt, mixed_precision, bar)
            judged = evaluate(model, validation) if validation else None
            seen = (judged.accuracy, judged.loss) if judged else (None, None)
            history.append(Epoch(epoch, *means, *seen))
            if on_epoch:
                on_epoch(history[-1])
    return history


def train_epoch(
    model: CapsNet,
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler,
    dealt: Iterable[Digits],
    mixed_precision: bool,
    bar: tqdm,
) -> list[float]:
    """Take one step for each batch.

    Returns:
        Means over all images: total loss, margin loss, reconstruction loss, accuracy.
    """
    model.train()
    totals, count = torch.zeros(4, device=_device(model)), 0
    for batch in dealt:
        means = training_step(model, optimizer, *batch, mixed_precision)
        # A batch counts by its size. The sums stay on the device.
        totals += len(batch.labels) * means
        count += len(batch.labels)
        scheduler.step()
        bar.update()
    return (totals / count).tolist()


def batches(
    train: Digits, batch_size: int, max_shift: int, generator: torch.Generator
) -> Iterator[Digits]:
    """Yield all digits once, in a new order, each moved by its own few pixels.

    Args:
        train: the digits, on the generator's device.
        batch_size: digits at a time; the last batch takes what is left.
        max_shift: how far each image may move, in pixels.
        generator: what to draw the order and the moves from.
    """
    count, device = len(train.labels), generator.device
    order = torch.randperm(count, generator=generator, device=device)
    for batch in order.split(batch_size):
        images = shift(train.images[batch], max_shift, generator)
        yield Digits(images, train.labels[batch])


def training_step(
    model: CapsNet,
    optimizer: torch.optim.Optimizer,
    images: Float[Tensor, "b c h w"],
    labels: Shaped[Tensor, " b"],
    mixed_precision: bool = False,
) -> Float[Tensor, "4"]:
    """Take one step down the gradient of one batch's loss.

    Returns:
        Means over the batch, from before the step and on its device: total loss, margin loss,
        reconstruction loss, and the share classified rightly.
    """
    output, loss = predict_and_score(model, images, labels, mixed_precision)
    optimizer.zero_grad(set_to_none=True)
    loss.total.backward()
    optimizer.step()
    correct = (output.lengths.argmax(dim=1) == labels).float().mean()
    return torch.stack([*loss, correct]).detach()


@torch.no_grad()
def evaluate(model: CapsNet, digits: Digits, batch_size: int = 250) -> Evaluation:
    """Classify digits by their longest capsule, and take the mean loss with the true labels.

    Args:
        model: a network; it is left in evaluation mode.
        digits: what to classify.
        batch_size: images at a time. It has no influence on the result.

    Returns:
        The mean loss over all digits, the share classified rightly, and all lengths, on the CPU.

    Raises:
        ValueError: if there are no digits, images leave [0, 1], or a label is no class of the
            network.
    """
    check_digits(digits, model.config.num_classes)
    model.eval()
    device = _device(model)
    losses, lengths = [], []
    for images, labels in zip(*(part.split(batch_size) for part in digits), strict=True):
        output, loss = predict_and_score(model, images.to(device), labels.to(device))
        losses.append(len(labels) * loss.total)
        lengths.append(output.lengths)
    lengths = torch.cat(lengths).cpu()
    correct = (lengths.argmax(dim=1) == digits.labels.cpu()).float().mean().item()
    return Evaluation(torch.stack(losses).sum().item() / len(digits.labels), correct, lengths)


def predict_and_score(
    model: CapsNet,
    images: Float[Tensor, "b c h w"],
    labels: Shaped[Tensor, " b"],
    mixed_precision: bool = False,
) -> tuple[CapsNetOutput, CapsNetLoss]:
    """Run the network on images, its decoder on the true labels' capsules, and take the loss.

    Args:
        model: the network.
        images: intensities in [0, 1], on the network's device.
        labels: the true classes.
        mixed_precision: run convolutions and matrix products in bfloat16. Squash, routing and the
            losses stay in float32.

    Returns:
        The network's output and the loss.
    """
    with torch.autocast(images.device.type, torch.bfloat16, enabled=mixed_precision):
        output = model(images, labels)
        return output, capsnet_loss(output, images, labels)


def _device(model: CapsNet) -> torch.device:
    """Return where the model's weights lie."""
    return next(model.parameters()).device
