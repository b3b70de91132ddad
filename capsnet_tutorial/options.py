"""What `capsnet-tutorial train` can be told, and what it does where nothing is said."""

import shlex
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import torch

from capsnet_tutorial.augmentation import AUGMENTATIONS
from capsnet_tutorial.devices import native_bfloat16
from capsnet_tutorial.recipes import Recipe, preset_recipe

DATA, PRESETS = ("sample", "mnist"), ("small", "paper")
PRECISIONS = ("auto", "fp32", "bf16")
"""`auto` is bfloat16 where the processor computes in it, else float32."""


@dataclass(frozen=True)
class Options:
    """Every choice that decides a run, none of them left open.

    Args:
        data: `"sample"` or `"mnist"`.
        preset: `"small"` or `"paper"`, the size of the network.
        routing: routing iterations.
        stop_gradient: let routing carry gradients in its last iteration only.
        reconstruction: whether there is a decoder.
        epochs: passes over the digits to learn from.
        batch_size: digits a step, of all processes together.
        learning_rate: at the first step.
        precision: `"fp32"` or `"bf16"`.
        compile: let PyTorch compile the network.
        device: `"cpu"`, `"cuda"`, `"cuda:1"` or `"mps"`.
        augment: what happens to each image first.
        seed: of the first weights, the order and the moves.

    Raises:
        ValueError: if a choice is of another type, or none of those there are.

    >>> print(choose_options({"seed": 7, "device": "cpu"}).command)
    capsnet-tutorial train --data sample --preset small --routing 3 --no-stop-gradient
      --reconstruction --epochs 6 --batch-size 25 --learning-rate 0.0015 --precision fp32
      --no-compile --device cpu --augment shift --seed 7
    """

    data: str
    preset: str
    routing: int
    stop_gradient: bool
    reconstruction: bool
    epochs: int
    batch_size: int
    learning_rate: float
    precision: str
    compile: bool
    device: str
    augment: str
    seed: int

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not field.type and (field.type, type(value)) != (float, int):
                raise ValueError(
                    f"{field.name} must be of type {field.type.__name__}, not {value!r}"
                )
        choices = {"data": DATA, "preset": PRESETS, "precision": PRECISIONS[1:]}
        for name, known in (choices | {"augment": tuple(AUGMENTATIONS)}).items():
            if (value := getattr(self, name)) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")

    @property
    def recipe(self) -> Recipe:
        """What is trained, and how."""
        chosen = preset_recipe(self.preset, self.data)
        config = replace(
            chosen.config,
            num_iterations=self.routing,
            stop_gradient=self.stop_gradient,
            reconstruction=self.reconstruction,
        )
        return replace(
            chosen,
            config=config,
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            augment=self.augment,
            mixed_precision=self.precision == "bf16",
        )

    @property
    def command(self) -> str:
        """The command that makes this run again, whatever the defaults are by then."""
        words = ["capsnet-tutorial", "train"]
        for name, value in asdict(self).items():
            flag = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{flag}" if value else f"--no-{flag}")
            else:
                words += [f"--{flag}", str(value)]
        return shlex.join(words)


def choose_options(given: dict[str, Any]) -> Options:
    """Fill in what was not said: the recipe of the preset and the digits.

    Args:
        given: some of the fields of `Options`; `precision` may be `"auto"`.

    Raises:
        ValueError: if the device isn't there.
    """
    data, preset = given.get("data", "sample"), given.get("preset", "small")
    recipe = preset_recipe(preset, data)
    chosen = {
        "data": data,
        "preset": preset,
        "routing": recipe.config.num_iterations,
        "stop_gradient": recipe.config.stop_gradient,
        "reconstruction": recipe.config.reconstruction,
        "epochs": recipe.epochs,
        "batch_size": recipe.batch_size,
        "learning_rate": recipe.learning_rate,
        "precision": "auto" if preset == "paper" else "fp32",
        "compile": False,
        "device": "cuda" if torch.cuda.is_available() else "cpu",
        "augment": recipe.augment,
        "seed": 0,
    } | given
    device = check_device(chosen["device"])
    if chosen["precision"] == "auto":
        chosen["precision"] = "bf16" if native_bfloat16(device) else "fp32"
    return Options(**chosen)


def check_same(options: Options, given: dict[str, Any]) -> None:
    """Refuse to go on with a run in another way than it was begun.

    Args:
        options: the run's.
        given: what is said now; it may say less.

    Raises:
        ValueError: if it says something else.
    """
    asked = choose_options(asdict(options) | given)
    differing = [
        f"{field.name} {then}, not {now}"
        for field in fields(options)
        if (then := getattr(options, field.name)) != (now := getattr(asked, field.name))
    ]
    if differing:
        raise ValueError(f"this run was begun with {', '.join(differing)}: leave that out")


def check_device(name: str) -> torch.device:
    """Return a device by name, if this machine has it.

    Raises:
        ValueError: if it hasn't, or torch knows no such device.

    >>> check_device("cpu")
    device(type='cpu')
    """
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(f"there is no device {name!r}: use cpu, cuda, cuda:0 or mps") from None
    there = {
        "cpu": 1,
        "cuda": torch.cuda.device_count(),
        "mps": int(torch.backends.mps.is_available()),
    }
    if (device.index or 0) >= there.get(device.type, 0):
        raise ValueError(f"this machine has no device {name!r}: leave --device out, or use cpu")
    return device
