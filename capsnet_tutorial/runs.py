"""A run's folder: its checkpoint, its record and its chart, each written whole or not at all.

| File | What is in it |
|---|---|
| `checkpoint.pt` | the network, and all that its training needs to go on |
| `record.json` | how the run was made, and what came of it |
| `chart.svg` | loss and error over the epochs, once the run is done |

`record.json` holds

| Name | Type | Meaning |
|---|---|---|
| `format` | text | `FORMAT` |
| `command` | text | the command that makes the run again, with every choice spelt out |
| `seed` | integer | of the first weights, the order and the moves |
| `data` | text | which digits, and how many for what |
| `counts` | dict | the same as numbers: `train`, `validation`, `test` |
| `device`, `hardware` | text | `cpu`, `cuda` or `mps`, and which one |
| `python`, `torch` | text | versions |
| `git` | text or null | revision of this package, `-dirty` behind it if files had been changed |
| `processes`, `threads` | integer | processes that trained together, and CPU threads of each |
| `options` | dict | the fields of `capsnet_tutorial.options.Options` |
| `config` | dict | the fields of `CapsNetConfig` |
| `seconds` | number | time that the epochs in `epochs` took, validation included |
| `epochs` | list | a dict an epoch, with the fields of `Epoch` |
| `total` | integer | test digits |
| `wrong` | integer or null | mistakes on them after the last epoch; null until then |
| `error` | number or null | `wrong / total` |
| `interval` | two numbers or null | 95% interval of the error rate, by Wilson's score |
"""

import json
import shlex
import subprocess
from pathlib import Path
from types import NoneType
from typing import Any, NoReturn

from capsnet_tutorial.config import CapsNetConfig
from capsnet_tutorial.history import Epoch
from capsnet_tutorial.options import Options
from capsnet_tutorial.records import write_json

FORMAT = "capsnet-tutorial run 1"
CHECKPOINT = "checkpoint.pt"
RECORD = "record.json"
CHART = "chart.svg"

FIELDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("format", "command", "data", "device", "hardware", "python", "torch"), (str,)),
    **dict.fromkeys(("seed", "processes", "threads", "total"), (int,)),
    **dict.fromkeys(("counts", "options", "config"), (dict,)),
    "git": (str, NoneType),
    "seconds": (int, float),
    "epochs": (list,),
    "wrong": (int, NoneType),
    "error": (float, NoneType),
    "interval": (list, NoneType),
}
"""What a record holds, and of which type."""


def write_run_record(folder: Path, record: dict[str, Any]) -> None:
    """Write `record.json`, whole or not at all.

    Raises:
        ValueError: if it isn't what a record has to be.
    """
    _check(folder / RECORD, record)
    write_json(folder / RECORD, record)


def read_run_record(folder: Path) -> dict[str, Any]:
    """Read `record.json`, and look whether it is what a record has to be.

    Args:
        folder: the run's folder.

    Raises:
        FileNotFoundError: if there is no such run.
        ValueError: if the record is broken.

    >>> read_run_record(Path("nowhere"))
    Traceback (most recent call last):
    FileNotFoundError: there is no run in nowhere: it has no record.json
    """
    path = folder / RECORD
    if not path.is_file():
        raise FileNotFoundError(f"there is no run in {folder}: it has no {RECORD}")
    try:
        record = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    except ValueError as error:
        raise ValueError(f"{path} is broken: {error}") from None
    _check(path, record)
    return record


def _refuse(constant: str) -> NoReturn:
    """Refuse NaN and infinity, which Python reads and JSON doesn't know."""
    raise ValueError(f"{constant} is no number that JSON knows")


def _check(path: Path, record: Any) -> None:
    """Refuse what isn't a record."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError(f"{path} is no record of a run: expected '{FORMAT}' in it")
    for name, types in FIELDS.items():
        value = record.get(name)
        if name not in record or not isinstance(value, types) or isinstance(value, bool):
            raise ValueError(f"{path} is broken: {name} is missing or of the wrong type")
    try:
        epochs = [Epoch(**epoch).epoch for epoch in record["epochs"]]
        options = Options(**record["options"])
        config, own = CapsNetConfig(**record["config"]), options.recipe.config
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is broken: {error}") from None
    finished = record["wrong"] is not None
    expected = range(1, (options.epochs if finished else len(epochs)) + 1)
    if epochs != list(expected) or len(epochs) > options.epochs:
        raise ValueError(f"{path} is broken: its epochs are not 1 to {options.epochs}")
    if config != own:
        raise ValueError(f"{path} is broken: its options and its config differ")
    _check_figures(path, record)


def _check_figures(path: Path, record: dict[str, Any]) -> None:
    """Refuse numbers that can't be."""
    wrong, interval, counts = record["wrong"], record["interval"], record["counts"]
    numbers = [isinstance(end, (int, float)) for end in interval or (0, 1)]
    error = wrong / record["total"] if wrong and record["total"] else wrong
    reasons = {
        "counts must give train, validation and test": counts.keys()
        != {"train", "validation", "test"},
        "seconds must not be negative": record["seconds"] < 0,
        "wrong, error and interval are there together": len(
            {record[name] is None for name in ("wrong", "error", "interval")}
        )
        > 1,
        "wrong must lie between 0 and total": not 0 <= (wrong or 0) <= record["total"],
        "error must be wrong / total": record["error"] != error,
        "interval is not two numbers": numbers != [True, True],
    }
    for reason, broken in reasons.items():
        if broken:
            raise ValueError(f"{path} is broken: {reason}")


def check_empty(folder: Path) -> None:
    """Refuse a folder that holds something.

    Raises:
        FileExistsError: if it does, or is no folder.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(
            f"{folder} is not empty: name another folder with --out, or go on with the run in it "
            "with --resume"
        )


def command_to_go_on(folder: Path) -> str:
    """Return the command that goes on with a run, as a shell takes it.

    Args:
        folder: the run's.

    >>> command_to_go_on(Path("my run"))
    "capsnet-tutorial train --out 'my run' --resume"
    """
    return f"capsnet-tutorial train --out {shlex.quote(str(folder))} --resume"


def git_revision() -> str | None:
    """Return the revision of this package's files, or None where git doesn't track them."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        command = ["git", "-C", str(here), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", Path(__file__).name)
        return git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return None
