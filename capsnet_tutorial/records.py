"""Recorded runs: results that are too heavy to make again each time, with how they were made."""

import json
import os
import platform
from pathlib import Path
from typing import Any

import torch

RESULTS = Path(__file__).resolve().parent.parent / "results"
"""The repository's folder of recorded runs."""


def environment(device: torch.device | str = "cpu") -> dict[str, str]:
    """Say where a run is made: device, processor or GPU, and versions.

    Args:
        device: where it is made.

    >>> sorted(environment())
    ['device', 'hardware', 'python', 'torch']
    """
    device = torch.device(device)
    on_gpu = device.type == "cuda"
    return {
        "device": device.type,
        "hardware": torch.cuda.get_device_name(device) if on_gpu else platform.machine(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def write_record(
    name: str,
    command: str,
    seed: int | list[int],
    data: str,
    device: torch.device | str = "cpu",
    **content: Any,
) -> Path:
    """Write `results/<name>.json`: what was found, and all it takes to find it again.

    Args:
        name: the record's name.
        command: the command that makes it.
        seed: the random seed, or several.
        data: the digits used, and how many.
        device: where the run was made.
        content: the figures: numbers, texts, lists and dicts.

    Returns:
        The file.

    Raises:
        ValueError: if a figure takes the name of something that every record holds, or is no
            number that JSON knows, such as NaN.
    """
    record = {"command": command, "seed": seed, "data": data, **environment(device)}
    if taken := sorted(record.keys() & content.keys()):
        raise ValueError(f"every record holds its own {', '.join(taken)}: choose another name")
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    write_json(path, record | content)
    return path


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a file that people can read, too: whole, or not at all.

    Args:
        path: the file; whoever stops the program on the way keeps the old one.
        content: numbers, texts, lists and dicts.

    Raises:
        ValueError: if a number is NaN or infinite, which JSON doesn't know.
    """
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def find_record(name: str) -> dict[str, Any] | None:
    """Read `results/<name>.json`, or return None if nobody has recorded that run yet.

    Args:
        name: the record's name.

    >>> find_record("a run that nobody made") is None
    True
    """
    return read_record(name) if (RESULTS / f"{name}.json").is_file() else None


def read_record(name: str) -> dict[str, Any]:
    """Read `results/<name>.json`.

    Args:
        name: the record's name.

    Raises:
        FileNotFoundError: if there is no such record.

    >>> read_record("axis_and_scale")["epochs"]
    3
    """
    path = RESULTS / f"{name}.json"
    if not path.is_file():
        raise FileNotFoundError(f"there is no recorded run {path.name} in {RESULTS}")
    return json.loads(path.read_text(encoding="utf-8"))
