"""Ways to train and judge that give a wrong figure."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.optim.lr_scheduler import ReduceLROnPlateau

from capsnet_tutorial.augmentation import move
from capsnet_tutorial.capsnet import CapsNet
from capsnet_tutorial.data import Digits
from capsnet_tutorial.evaluation import evaluate
from capsnet_tutorial.training import training_step


def mean_of_batch_means(values: Float[Tensor, " b"], batch_size: int) -> float:
    """Average over batches as if all were of one size.

    The fault: an image in a short last batch counts for more than any other.

    Args:
        values: a value an image.
        batch_size: images a batch; the last one takes what is left.

    Returns:
        The mean of the batches' means.

    >>> mean_of_batch_means(torch.tensor([1.0, 1.0, 1.0, 0.0]), batch_size=3)  # 0.75 is right
    0.5
    """
    return torch.stack([part.mean() for part in values.split(batch_size)]).mean().item()


def shift_whole_batch(
    images: Float[Tensor, "b c h w"], max_shift: int, generator: torch.Generator | None = None
) -> Float[Tensor, "b c h w"]:
    """Move all images of a batch by one and the same random move.

    The fault: a step sees one move where it could see as many as it has images.

    Args:
        images: `[b, c, h, w]`.
        max_shift: the largest move, in pixels.
        generator: what to draw from; torch's own by default.

    Returns:
        The moved images.

    >>> shift_whole_batch(torch.ones(2, 1, 3, 3), max_shift=0).sum()
    tensor(18.)
    """
    moves = torch.randint(-max_shift, max_shift + 1, (2, 1, 1), generator=generator)
    return move(images, moves.expand(2, len(images), 1), max_shift)


def fit_by_test_loss(
    model: CapsNet,
    train: Digits,
    test: Digits,
    epochs: int,
) -> list[float]:
    """Train, and lower the learning rate whenever the loss on the *test* digits stops falling.

    The fault: what is learned depends on the labels of the digits that are to judge it.

    Args:
        model: the network to train, in place.
        train: digits to learn from.
        test: the digits that are to judge it.
        epochs: passes over `train`.

    Returns:
        The learning rate of each epoch.
    """
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = ReduceLROnPlateau(optimizer, patience=0)
    rates = []
    for _ in range(epochs):
        rates += scheduler.get_last_lr()
        parts = (part.split(50) for part in train)
        for batch in zip(*parts, strict=True):
            training_step(model, optimizer, *batch)
        scheduler.step(evaluate(model, test).loss)
    return rates
