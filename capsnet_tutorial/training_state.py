"""What a training is between two epochs: kept in a file, it goes on to the last bit."""

import math
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from capsnet_tutorial.augmentation import AUGMENTATIONS
from capsnet_tutorial.capsnet import CapsNet
from capsnet_tutorial.checkpoints import load_checkpoint, save_checkpoint
from capsnet_tutorial.history import Epoch, History

FINAL_LEARNING_RATE = 0.05
"""Fraction of the first learning rate that is left after the last step."""


@dataclass(frozen=True)
class Plan:
    """What decides a training, beside its network, its digits and its device.

    Raises:
        ValueError: if there is nothing to do, a number is out of range or `augment` is unknown.
        TypeError: if a count is no whole number.

    >>> Plan(2, 50, 0.001, "shift", False, 0, num_digits=120).num_steps  # 50, 50 and 20 digits
    6
    """

    epochs: int
    batch_size: int
    learning_rate: float
    augment: str
    mixed_precision: bool
    seed: int
    num_digits: int

    def __post_init__(self):
        for name in ("epochs", "batch_size", "seed"):
            number = getattr(self, name)
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"{name} must be a whole number, got {number!r}")
        if min(self.num_digits, self.epochs, self.batch_size) < 1:
            raise ValueError(
                "fit needs at least one digit, one epoch and one image a batch, got "
                f"{self.num_digits}, {self.epochs} and {self.batch_size}"
            )
        if max(self.epochs, self.batch_size) >= 2**63:
            raise ValueError("epochs and batch_size must be below 2^63")
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(f"learning_rate must be above 0 and finite, got {self.learning_rate}")
        if self.augment not in AUGMENTATIONS:
            raise ValueError(
                f"augment must be one of {', '.join(AUGMENTATIONS)}, got {self.augment!r}"
            )

    @property
    def num_steps(self) -> int:
        """Steps of the whole training; a short last batch counts as one."""
        return self.epochs * -(-self.num_digits // self.batch_size)


class TrainingState:
    """A network in training: its optimiser, schedule, random numbers and history.

    `network` is what a step calls: the model itself, or one that shares its work among processes.

    Args:
        model: the network, on its device.
        plan: what decides the training.
    """

    def __init__(self, model: CapsNet, plan: Plan):
        device = next(model.parameters()).device
        decay = FINAL_LEARNING_RATE ** (1 / plan.num_steps)
        self.model, self.plan = model, plan
        self.network: torch.nn.Module = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=plan.learning_rate, fused=True)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, decay)
        self.generator = torch.Generator(device).manual_seed(plan.seed)
        self.history = History()

    def save(self, path: str | Path) -> None:
        """Write all of it to a checkpoint, whole or not at all.

        Args:
            path: the file.

        Raises:
            OSError: if it can't be written.
        """
        training = {
            "plan": self._identity(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "generator": self.generator.get_state(),
            "history": [epoch._asdict() for epoch in self.history],
        }
        save_checkpoint(path, self.model, training=training)

    def restore(self, path: str | Path | None) -> None:
        """Go back to where `save` was called.

        Args:
            path: the file that it wrote.

        Raises:
            FileNotFoundError: if there is no checkpoint.
            ValueError: if no path is given, or the checkpoint holds no training, or another one.
        """
        if path is None:
            raise ValueError("to resume, name the checkpoint to go on from")
        saved, extra = load_checkpoint(path)
        training, history = _training(path, extra)
        then = training["plan"] | {"network": saved.config}
        now = self._identity() | {"network": self.model.config}
        if differing := [name for name in now if now[name] != then.get(name)]:
            told = ", ".join(f"{name} {then.get(name)}, not {now[name]}" for name in differing)
            raise ValueError(f"{path} belongs to another training, with {told}")
        self.model.load_state_dict(saved.state_dict())
        try:
            self.optimizer.load_state_dict(training["optimizer"])
            self.scheduler.load_state_dict(training["scheduler"])
            self.generator.set_state(training["generator"])
        except Exception as error:  # whatever torch makes of a state that isn't its own
            raise ValueError(_foreign(path, error)) from None
        self.history = history

    def _identity(self) -> dict:
        """Return what must be the same when the training goes on."""
        return asdict(self.plan) | {"device": self.generator.device.type}


def saved_history(path: str | Path) -> History:
    """Return the epochs that a training had done when it wrote a checkpoint.

    Args:
        path: the file.

    Returns:
        The history, of no epoch where only the first weights were written.

    Raises:
        FileNotFoundError: if there is no checkpoint.
        ValueError: if the file is damaged or holds no training.
    """
    return _training(path, load_checkpoint(path).extra)[1]


PARTS = {"plan": dict, "optimizer": dict, "scheduler": dict, "generator": Tensor, "history": list}
"""What `TrainingState.save` keeps, and of which type."""


def _training(path: str | Path, extra: dict) -> tuple[dict, History]:
    """Return the training that a checkpoint holds beside its network, and its epochs."""
    if "training" not in extra:
        raise ValueError(f"{path} holds a network but no training that could go on")
    training = extra["training"]
    try:
        wrong = [name for name, kind in PARTS.items() if not isinstance(training[name], kind)]
        if wrong:
            raise TypeError(f"wrong type of {', '.join(wrong)}")
        return training, History(Epoch(**epoch) for epoch in training["history"])
    except (KeyError, TypeError) as error:
        raise ValueError(_foreign(path, error)) from None


def _foreign(path: str | Path, error: Exception) -> str:
    """Say that a training is none of ours."""
    return (
        f"{path} holds a training that fit did not write ({type(error).__name__}: {error}): train "
        "again from the start, into another file"
    )
