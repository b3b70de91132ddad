"""What to train where: the paper's model on a GPU, a small one elsewhere, and records of both."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from capsnet_tutorial.config import CapsNetConfig
from capsnet_tutorial.data import DATA_VARIABLE, Digits, mnist, sample_digits, split
from capsnet_tutorial.devices import native_bfloat16
from capsnet_tutorial.history import Epoch
from capsnet_tutorial.intervals import wilson_interval
from capsnet_tutorial.records import write_record

GPU_RECORD = "lesson06-cuda"
"""Name of the recorded run on a GPU, once somebody has made one."""

MOVES = {
    "shift": "moved by up to two pixels",
    "affine": "turned, stretched, sheared and moved a little",
    "none": "left as they are",
}
"""What `AUGMENTATIONS` do, in words."""


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training but the seed and the device.

    Args:
        config: sizes of the network.
        epochs: passes over the digits to learn from.
        batch_size: digits a step.
        learning_rate: at the first step.
        augment: what happens to each image first, a key of `AUGMENTATIONS`.
        mixed_precision: run convolutions and matrix products in bfloat16.
        all_of_mnist: learn from MNIST rather than from the sample digits.
        num_validation: training digits that are set aside, to make choices by.

    >>> print(recipe_for(torch.device("cuda")).data)
    55,000 MNIST digits to learn from, 5,000 to choose by, 10,000 to judge by
    """

    config: CapsNetConfig
    epochs: int
    batch_size: int
    learning_rate: float
    augment: str
    mixed_precision: bool
    all_of_mnist: bool
    num_validation: int

    def load(self, root: str | Path | None = None) -> tuple[Digits, Digits, Digits]:
        """Return digits to learn from, digits to choose by, and digits to judge by once.

        Args:
            root: where MNIST is, as for `mnist`; the sample digits don't need it.

        Raises:
            OSError: if MNIST is asked for and can't be had.
        """
        if self.all_of_mnist:
            train, test = mnist(root), mnist(root, train=False)
        else:
            train, test = sample_digits()
        return *split(train, self.num_validation), test

    @property
    def options(self) -> dict[str, Any]:
        """What `fit` takes."""
        names = ("epochs", "batch_size", "learning_rate", "augment", "mixed_precision")
        return {name: getattr(self, name) for name in names}

    @property
    def data(self) -> str:
        """Which digits, and how many for what."""
        name, train, test = (
            ("MNIST", 60_000, 10_000) if self.all_of_mnist else ("sample", 4000, 1000)
        )
        return (
            f"{train - self.num_validation:,} {name} digits to learn from, "
            f"{self.num_validation:,} to choose by, {test:,} to judge by"
        )

    def __str__(self) -> str:
        size = "the paper's" if self.config == CapsNetConfig() else "a small"
        moves = MOVES[self.augment]
        kind = "bfloat16 where it is safe" if self.mixed_precision else "float32"
        return (
            f"{size} network with {self.config.num_primary:,} primary capsules\n{self.data}\n"
            f"{self.epochs} epochs in batches of {self.batch_size}, images {moves}"
            f"\nlearning rate from {self.learning_rate}, {kind}"
        )


def preset_recipe(size: str, data: str) -> Recipe:
    """Choose how to train a network of some size on some digits, in float32.

    Args:
        size: `"small"`, or `"paper"` for the paper's.
        data: `"sample"`, or `"mnist"` for all of it.

    >>> preset_recipe("small", "mnist").epochs
    2
    """
    on_mnist = data == "mnist"
    num_validation = 5000 if on_mnist else 500
    if size == "paper":
        config, steps = CapsNetConfig(), (50, 128, 1e-3)
    else:
        config, steps = CapsNetConfig.small(), (2, 50, 1.5e-3) if on_mnist else (6, 25, 1.5e-3)
    return Recipe(config, *steps, "shift", False, on_mnist, num_validation)


def recipe_for(device: torch.device) -> Recipe:
    """Choose what to train: the paper's model and all of MNIST if `device` is a CUDA GPU.

    Elsewhere it is the small model, on the sample digits; or on all of MNIST, if the environment
    variable CAPSNET_DATA names the folder that holds it.

    Args:
        device: where training is to take place.

    >>> recipe_for(torch.device("cuda")).config == CapsNetConfig()
    True
    """
    if device.type == "cuda":
        # GPUs from before 2020 only imitate bfloat16, and slowly. Without a GPU this is a plan.
        able = not torch.cuda.is_available() or native_bfloat16(device)
        return replace(preset_recipe("paper", "mnist"), mixed_precision=able)
    return preset_recipe("small", "mnist" if os.environ.get(DATA_VARIABLE) else "sample")


def write_run(
    recipe: Recipe,
    history: Sequence[Epoch],
    *,
    wrong: int,
    total: int,
    seconds: float,
    seed: int,
    device: torch.device,
) -> Path:
    """Write `results/lesson06-<device>.json`: what was trained, how, where, and what came of it.

    Args:
        recipe: what was trained.
        history: what `fit` returned.
        wrong: mistakes on the test digits, of the network as it was after the last epoch.
        total: test digits.
        seconds: time that `fit` took.
        seed: of the first weights, the order and the shifts.
        device: where it was trained.

    Returns:
        The file.
    """
    return write_record(
        f"lesson06-{device.type}",
        "python tools/lessons.py run --gpu 06",
        seed,
        recipe.data,
        device,
        recipe=asdict(recipe),
        seconds=round(seconds, 1),
        wrong=wrong,
        total=total,
        epochs=[epoch._asdict() for epoch in history],
    )


def describe_run(record: dict[str, Any] | None) -> str:
    """Say in words what a record of `write_run` holds, or that there is none.

    Args:
        record: what `find_record` returned.

    >>> describe_run(None)
    'No such run has been recorded yet.'
    """
    if record is None:
        return "No such run has been recorded yet."
    low, high = wilson_interval(record["wrong"], record["total"])
    epochs = len(record["epochs"])
    return (
        f"{record['wrong']} of {record['total']:,} test digits wrong: "
        f"{record['wrong'] / record['total']:.2%}\n"
        f"95% interval: {low:.2%} to {high:.2%}\n"
        f"{epochs} epoch{'s' * (epochs > 1)} in {record['seconds']:,.0f} seconds, seed "
        f"{record['seed']}\n{record['data']}\n{record['hardware']}, torch {record['torch']}"
    )
