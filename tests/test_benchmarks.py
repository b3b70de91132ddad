"""The benchmark: its yardsticks compute the same step, its counts are right, its page is fresh."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import measuring
import pytest
import step
import table
import torch
import yardsticks

from capsnet_tutorial import DigitCaps, records
from capsnet_tutorial.cli import main as capsnet_tutorial

SCRIPT = Path(step.__file__).with_name("gpu.sh")
CPU = torch.device("cpu")
OPTIONS = ["--tiny", "--device", "cpu", "--batch", "2", "--rounds", "1"]


@pytest.mark.parametrize(
    "layer", [yardsticks.PlainDigitCaps, yardsticks.RepeatingDigitCaps, yardsticks.BatchedDigitCaps]
)
def test_every_yardstick_computes_what_the_layer_computes(layer):
    torch.manual_seed(0)
    digit = DigitCaps(5, 4, 3, 2)
    other = layer(5, 4, 3, 2)
    other.load_state_dict(digit.state_dict())
    u = torch.randn(2, 5, 4, requires_grad=True)
    for find in (lambda one: one(u), lambda one: torch.autograd.grad(one(u)[..., 0].sum(), u)[0]):
        torch.testing.assert_close(find(other), find(digit))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_tiny_run_measures_and_records_everything(precision, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    step.main([*OPTIONS, "--precision", precision, "--json", "tiny"])
    record = json.loads((tmp_path / "tiny.json").read_text())
    assert record["command"].startswith("python benchmarks/step.py --tiny --device cpu")
    names = [name for name, *_ in yardsticks.LADDER if precision == "bf16" or name != "bfloat16"]
    assert list(record["steps"]) == names
    assert record["options"]["precision"] == precision
    assert all(seconds > 0 for part in ("steps", "parts") for seconds in record[part].values())
    share = record["operations"] / record["steps"][record["ours"]] / record["matrix_rate"]
    assert record["share"] == pytest.approx(share)
    printed = capsys.readouterr().out
    assert all(name in printed for name in [*names, "routing", "optimiser"])
    assert f"| {yardsticks.PLAIN} |" in table.tables(record)


def test_operations_are_those_of_convolutions_and_products():
    a, b = torch.randn(3, 4), torch.randn(4, 5)
    assert measuring.floating_point_operations(lambda: a @ b) == 2 * 3 * 4 * 5


def test_kept_bytes_leave_the_weights_out():
    model = torch.nn.Linear(4, 3, bias=False)
    x = torch.randn(2, 4, requires_grad=True)
    assert measuring.bytes_kept_by_autograd(lambda: model(x), model) == 2 * 4 * 4


def test_all_are_timed_in_turn_after_a_call_that_does_not_count():
    calls = []
    functions = {name: lambda name=name: calls.append(name) for name in "ab"}
    medians = measuring.interleaved_medians(functions, 2, CPU)
    assert calls == list("ababab")
    assert list(medians) == ["a", "b"]


def test_the_page_holds_the_tables_of_the_records():
    page = table.PAGE.read_text(encoding="utf-8")
    assert page == table.page_with_tables(page), "run: python benchmarks/table.py"


def run_script(tmp_path, **variables):
    """Run gpu.sh, and return what became of it."""
    return subprocess.run(
        ["bash", SCRIPT],
        env=os.environ | {"PYTHON": sys.executable, "OUT": str(tmp_path / "out")} | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.upkeep
def test_the_script_for_a_gpu_runs_through_on_a_cpu_with_tiny_sizes(tmp_path):
    before = sorted(records.RESULTS.iterdir())
    run = run_script(tmp_path, TINY="1")
    assert run.returncode == 0, run.stdout + run.stderr
    out = tmp_path / "out"
    assert {"log.txt", "paper", "step-cuda-bf16.json", "step-cuda-fp32.json"} == {
        file.name for file in out.iterdir()
    }
    assert json.loads((out / "paper" / "record.json").read_text())["wrong"] is not None
    assert sorted(records.RESULTS.iterdir()) == before
    again = run_script(tmp_path, TINY="1")
    assert again.returncode == 1
    assert "name another folder with OUT=" in again.stderr


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="shows what happens without a CUDA GPU")
def test_the_script_says_so_where_there_is_no_gpu(tmp_path):
    run = run_script(tmp_path, TINY="")
    assert run.returncode == 1
    assert "torch sees no CUDA GPU here; TINY=1 tries this script without one" in run.stderr


def test_the_script_s_training_is_one_that_the_command_line_understands(tmp_path, capsys):
    source = SCRIPT.read_text(encoding="utf-8")
    (words,) = re.findall(r"training=\((--data mnist.*)\)", source)
    words = shlex.split(words.replace("--device cuda", "--device cuda:99"))
    code = capsnet_tutorial(["train", *words, "--no-compile", "--epochs", "1", "--out", "runs/no"])
    assert code == 2
    assert "this machine has no device 'cuda:99'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"(?:tests|benchmarks)/\w+\.\w+", SCRIPT.read_text())))
)
def test_the_script_calls_files_that_are_there(path):
    assert (SCRIPT.parent.parent / path).is_file()
