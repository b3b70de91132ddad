"""`capsnet-tutorial train`: one call of `fit`, with a folder that keeps what comes of it."""

import math
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from capsnet_tutorial.capsnet import CapsNet
from capsnet_tutorial.checkpoints import weights_are_finite
from capsnet_tutorial.data import Digits
from capsnet_tutorial.devices import check_compiler
from capsnet_tutorial.evaluate_command import judge
from capsnet_tutorial.history import Epoch, History
from capsnet_tutorial.options import Options, check_same, choose_options
from capsnet_tutorial.pictures import Picture
from capsnet_tutorial.plotting_training import training_curves
from capsnet_tutorial.processes import Processes, join_processes
from capsnet_tutorial.recipes import describe_run
from capsnet_tutorial.records import environment
from capsnet_tutorial.runs import (
    CHART,
    CHECKPOINT,
    FORMAT,
    RECORD,
    check_empty,
    command_to_go_on,
    git_revision,
    read_run_record,
    write_run_record,
)
from capsnet_tutorial.training import fit
from capsnet_tutorial.training_state import Plan, saved_history

INTERRUPTED = 130
"""Exit code of a program that Ctrl-C stopped: 128 and the number of the signal."""


def train(
    given: dict[str, Any],
    out: Path | None = None,
    resume: bool = False,
    data_dir: Path | None = None,
) -> int:
    """Train a network in a new folder, or go on with the training in an old one.

    Args:
        given: the choices that were made, fields of `Options`.
        out: the run's folder; by default `runs/PRESET-DATA`.
        resume: go on with the run in that folder. Choices that were made then needn't be repeated.
        data_dir: where MNIST is, as for `mnist`.

    Returns:
        The exit code: 0, or 130 if Ctrl-C stopped it.

    Raises:
        ValueError: if a choice makes no sense, or differs from those of the run to go on with, or
            this machine can't compile.
        OSError: if the folder isn't empty, or there is none to go on with, or MNIST is missing.
    """
    options = choose_options(given)
    out = out or Path("runs") / f"{options.preset}-{options.data}"
    record: dict[str, Any] = {}
    if resume:
        record = read_run_record(out)
        options = Options(**record["options"])
        check_same(options, given)
        if record["wrong"] is not None:
            print(f"{out} is finished:\n{describe_run(record)}")
            return 0
    processes = join_processes(torch.device(options.device))
    if processes.first and not resume:
        check_empty(out)
    if options.compile:
        check_compiler(options.device)
    piles = dict(zip(("train", "validation", "test"), options.recipe.load(data_dir), strict=True))
    record = _begin(options, piles) | record | _surroundings(options, processes)
    processes.check_batches(len(piles["train"].labels), options.batch_size)
    try:
        _train(options, piles, record, out, processes)
    except KeyboardInterrupt:
        if processes.first:
            print(_how_to_go_on(options, out), file=sys.stderr)
        return INTERRUPTED
    processes.leave()
    return 0


def _begin(options: Options, piles: dict[str, Digits]) -> dict[str, Any]:
    """Return the record of a run in which nothing has happened yet."""
    counts = {name: len(digits.labels) for name, digits in piles.items()}
    recipe = options.recipe
    Plan(**recipe.options, seed=options.seed, num_digits=counts["train"])  # refuses what can't be
    return {
        "format": FORMAT,
        "seed": options.seed,
        "data": recipe.data,
        "counts": counts,
        "options": asdict(options),
        "config": asdict(recipe.config),
        "seconds": 0.0,
        "epochs": [],
        "total": counts["test"],
        **dict.fromkeys(("wrong", "error", "interval")),
    }


def _surroundings(options: Options, processes: Processes) -> dict[str, Any]:
    """Say what a run may change when it goes on: the machine, the versions, the processes."""
    command = options.command
    if processes.size > 1:
        start = f"torchrun --nproc-per-node={processes.size} -m capsnet_tutorial"
        command = command.replace("capsnet-tutorial", start, 1)
    return {
        "command": command,
        **environment(options.device),
        "git": git_revision(),
        "processes": processes.size,
        "threads": torch.get_num_threads(),
    }


def _how_to_go_on(options: Options, out: Path) -> str:
    """Say how far an interrupted run has come."""
    if not (out / RECORD).is_file():
        return "stopped before the first step: nothing was written"
    checkpoint = out / CHECKPOINT
    done = len(saved_history(checkpoint)) if checkpoint.is_file() else 0
    return f"stopped after epoch {done} of {options.epochs}: go on with {command_to_go_on(out)}"


def _train(
    options: Options,
    piles: dict[str, Digits],
    record: dict[str, Any],
    out: Path,
    processes: Processes,
) -> None:
    """Train to the end and judge once; the first process writes the record after each epoch."""
    checkpoint = out / CHECKPOINT
    begun = _take_up(record, out, processes)
    if processes.first:
        print(f"{options.recipe}\non {record['hardware']} ({options.device}), into {out}")
    model = _network(options)
    before, start = record["seconds"], time.perf_counter()

    def keep(epoch: Epoch) -> None:
        if not (all(map(math.isfinite, epoch)) and weights_are_finite(model)):
            raise ValueError(
                f"the network computed no numbers any more in epoch {epoch.epoch}: begin again in "
                f"another folder, with a lower --learning-rate than {options.learning_rate}"
            )
        record["epochs"].append(epoch._asdict())
        record["seconds"] = round(before + time.perf_counter() - start, 1)
        if processes.first:
            write_run_record(out, record)

    history = fit(
        model,
        piles["train"],
        piles["validation"],
        **options.recipe.options,
        seed=options.seed,
        device=options.device,
        checkpoint=checkpoint,
        resume=begun,
        on_epoch=keep,
    )
    if processes.first:
        (out / CHART).write_text(_chart(history, options.augment).svg, encoding="utf-8")
        record |= judge(model, piles["test"], options.device)
        write_run_record(out, record)
        print(describe_run(record))


def _take_up(record: dict[str, Any], out: Path, processes: Processes) -> bool:
    """Begin a run's folder, or take its epochs from its checkpoint; say whether there was one."""
    checkpoint = out / CHECKPOINT
    if checkpoint.is_file():
        # The record is written once `fit` has found the checkpoint to be this run's.
        record["epochs"] = [epoch._asdict() for epoch in saved_history(checkpoint)]
        return True
    if record["epochs"]:
        raise FileNotFoundError(
            f"{checkpoint} is missing, and with it what was learned: begin again in another folder"
        )
    if processes.first:
        out.mkdir(parents=True, exist_ok=True)
        write_run_record(out, record)
    return False


def _network(options: Options) -> CapsNet:
    """Build a network from its seed."""
    torch.manual_seed(options.seed)
    model = CapsNet(options.recipe.config)
    if options.compile:
        model.compile()  # in place: the names of its weights stay as they are
    return model


def _chart(history: History, augment: str) -> Picture:
    """Draw how the training went."""
    return training_curves(
        history.losses,
        history.validation_losses,
        [1 - accuracy for accuracy in history.accuracies],
        [1 - accuracy for accuracy in history.validation_accuracies],
        moves={"shift": "shifted", "affine": "distorted", "none": "unmoved"}[augment],
    )
