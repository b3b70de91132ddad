"""Save a network to a file and load it again, on any machine."""

import io
import os
import pickle
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import torch

from capsnet_tutorial.capsnet import CapsNet
from capsnet_tutorial.config import CapsNetConfig

FORMAT = "capsnet-tutorial checkpoint 1"
NOT_PLAIN = "a checkpoint keeps tensors and plain values: numbers, texts, lists and dicts"


class Checkpoint(NamedTuple):
    """A network, and whatever plain values were saved beside it."""

    model: CapsNet
    extra: dict[str, Any]


def save_checkpoint(path: str | Path, model: CapsNet, **extra: Any) -> None:
    """Write a network's sizes and weights to a file, all or nothing.

    The file holds tensors and plain values alone, so that loading it runs no code. It is written
    beside `path` and then moved there: whoever stops the program on the way keeps the old file.

    Args:
        path: the file to write; its folder must exist.
        model: the network.
        extra: tensors and plain values (numbers, texts, lists, dicts) to keep with it.

    Raises:
        FileNotFoundError: if the folder doesn't exist.
        OSError: if the file can't be written, such as on a full disk.
        TypeError: if `extra` holds anything but tensors and plain values.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_checkpoint(Path(folder, "a.pt"), CapsNet(CapsNetConfig.small()), epoch=3)
    ...     load_checkpoint(Path(folder, "a.pt")).extra
    {'epoch': 3}
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist: make it first")
    content = {
        "format": FORMAT,
        "config": asdict(model.config),
        "weights": model.state_dict(),
        "extra": extra,
    }
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    # Through memory: of a failing disk, torch says less than Python does.
    buffer = io.BytesIO()
    try:
        torch.save(content, buffer)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise TypeError(f"{NOT_PLAIN}: {error}") from None
    try:
        partial.write_bytes(buffer.getbuffer())
        _check_plain(partial)
        partial.replace(path)
    except OSError as error:
        raise OSError(
            f"{path} could not be written ({_reason(error)}): make room there, or choose another "
            "folder; what was there before is kept"
        ) from None
    finally:
        partial.unlink(missing_ok=True)


def load_checkpoint(path: str | Path, device: torch.device | str = "cpu") -> Checkpoint:
    """Read what `save_checkpoint` wrote, wherever it was written.

    Args:
        path: the file.
        device: where the network shall lie; the CPU also takes what a GPU saved.

    Returns:
        The network, in evaluation mode, and the values saved beside it.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is damaged or isn't a checkpoint of this package, or if a weight is
            no finite number.
        OSError: if the file can't be read.

    See `save_checkpoint` for an example; a file that isn't there is named:

    >>> load_checkpoint("nowhere.pt")
    Traceback (most recent call last):
    FileNotFoundError: there is no checkpoint at nowhere.pt
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no checkpoint at {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            if changed := archive.testzip():
                raise ValueError(f"{changed} is not as it was written")
        content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except pickle.UnpicklingError:
        raise ValueError(
            f"{path} is no checkpoint: it holds more than tensors and plain values, and to load it "
            "could run a stranger's code"
        ) from None
    except Exception as error:  # foreign bytes make the readers raise whatever they spell
        raise ValueError(
            f"{path} is damaged or no checkpoint ({type(error).__name__}): save it again"
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} was not written by save_checkpoint: expected '{FORMAT}' in it")
    try:
        model = CapsNet(CapsNetConfig(**content["config"]))
        model.load_state_dict(content["weights"])
        extra = dict(content["extra"])
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {_reason(error)}") from None
    if not weights_are_finite(model):
        raise ValueError(
            f"{path} holds weights that are no numbers any more: train again, in another folder "
            "and with a lower learning rate"
        )
    return Checkpoint(model.to(device).eval(), extra)


def weights_are_finite(model: CapsNet) -> bool:
    """Say whether a network can compute at all: one NaN in it makes every result NaN.

    Args:
        model: the network.

    >>> weights_are_finite(CapsNet(CapsNetConfig.small()))
    True
    """
    return all(weight.isfinite().all() for weight in model.parameters())


def _reason(error: Exception) -> str:
    """Return what an error says in one line, or its type where it says nothing."""
    text = error.strerror if isinstance(error, OSError) else str(error)
    return " ".join((text or str(error)).split()) or type(error).__name__


def _check_plain(path: Path) -> None:
    """Refuse a file that `load_checkpoint` would refuse, before it takes the old one's place."""
    if foreign := torch.serialization.get_unsafe_globals_in_checkpoint(path):
        raise TypeError(f"{NOT_PLAIN}: found {', '.join(sorted(foreign))}")
