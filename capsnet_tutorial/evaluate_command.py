"""`capsnet-tutorial evaluate`: how many test digits a run's network reads wrongly."""

from pathlib import Path
from typing import Any

import torch

from capsnet_tutorial.capsnet import CapsNet
from capsnet_tutorial.checkpoints import load_checkpoint
from capsnet_tutorial.data import Digits
from capsnet_tutorial.evaluation import evaluate
from capsnet_tutorial.intervals import wilson_interval
from capsnet_tutorial.options import Options
from capsnet_tutorial.recipes import preset_recipe
from capsnet_tutorial.runs import CHECKPOINT, command_to_go_on, read_run_record


def judge(model: CapsNet, test: Digits, device: torch.device | str | None = None) -> dict[str, Any]:
    """Count mistakes, and say how sure the error rate is.

    Args:
        model: the network.
        test: digits that no choice was made by.
        device: where to compute, as for `evaluate`.

    Returns:
        `wrong`, `total`, `error` and `interval`, as in a run's record.
    """
    read_as = evaluate(model, test, device=device).lengths.argmax(dim=1)
    wrong, total = int((read_as != test.labels.cpu()).sum()), len(test.labels)
    interval = list(wilson_interval(wrong, total))
    return {"wrong": wrong, "total": total, "error": wrong / total, "interval": interval}


def evaluate_run(run: Path, data: str | None = None, data_dir: Path | None = None) -> int:
    """Print how often a finished run's network errs on test digits.

    Args:
        run: the run's folder.
        data: `"sample"` or `"mnist"`; by default the digits that it was trained on.
        data_dir: where MNIST is, as for `mnist`.

    Returns:
        The exit code, 0.

    Raises:
        ValueError: if the run isn't finished, learned from the digits to judge it by, or holds the
            checkpoint of another run.
        OSError: if there is no such run, or MNIST isn't to be had.
    """
    record = read_run_record(run)
    options = Options(**record["options"])
    if record["wrong"] is None:
        raise ValueError(
            f"{run} has done {len(record['epochs'])} of {options.epochs} epochs, and the test "
            f"digits are kept for its end: go on with {command_to_go_on(run)}"
        )
    data = data or options.data
    if (options.data, data) == ("mnist", "sample"):
        raise ValueError(
            f"{run} learned from MNIST's training digits, and the sample digits are among them: "
            "use --data mnist"
        )
    model = load_checkpoint(run / CHECKPOINT).model
    if model.config != options.recipe.config:
        raise ValueError(
            f"{run / CHECKPOINT} is of another run: its network is {model.config}, and the "
            f"record's {options.recipe.config}"
        )
    *_, test = preset_recipe(options.preset, data).load(data_dir)
    found = judge(model, test)
    low, high = found["interval"]
    print(
        f"{found['wrong']} of {found['total']:,} {data} test digits wrong: {found['error']:.2%}\n"
        f"95% interval: {low:.2%} to {high:.2%}"
    )
    return 0
