"""Training from a terminal: a run can be stopped, resumed and repeated to the last bit."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_cli
import torch
from tiny_cli import SHORT, content, picture, same_weights, weights

from capsnet_tutorial import (
    evaluate,
    load_checkpoint,
    split,
    train_command,
)
from capsnet_tutorial.cli import main
from capsnet_tutorial.intervals import wilson_interval
from capsnet_tutorial.recipes import describe_run
from capsnet_tutorial.runs import read_run_record, write_run_record

TINY = Path(tiny_cli.__file__)
LESSONS = Path(__file__).parents[2] / "lessons"


def test_a_run_keeps_all_that_it_takes_to_understand_and_repeat_it(finished):
    names = {path.name for path in finished.iterdir()}
    assert names == {"checkpoint.pt", "record.json", "chart.svg"}
    record, test = read_run_record(finished), tiny_cli.few_digits()[1]
    assert [epoch["epoch"] for epoch in record["epochs"]] == [1, 2, 3, 4]
    assert all(0 < epoch["validation_loss"] < 2 for epoch in record["epochs"])
    assert record["counts"] == {"train": 43, "validation": 9, "test": 20}
    model = load_checkpoint(finished / "checkpoint.pt").model
    # Each epoch is judged by digits set aside from training, and never by the test digits.
    _, validation = split(tiny_cli.few_digits()[0], tiny_cli.NUM_VALIDATION)
    seen = evaluate(model, validation).loss
    assert record["epochs"][-1]["validation_loss"] == pytest.approx(seen, rel=1e-5)
    judged = evaluate(model, test)
    assert record["error"] == pytest.approx(1 - judged.accuracy)
    assert record["wrong"] == round(20 * record["error"])
    assert record["interval"] == list(wilson_interval(record["wrong"], 20))
    assert record["seconds"] > 0
    assert record["options"]["seed"] == record["seed"] == 0
    chart = (finished / "chart.svg").read_text(encoding="utf-8")
    assert chart.startswith("<svg")
    assert "in training, shifted" in chart


def test_the_recorded_command_makes_the_same_run_to_the_last_bit(finished, tmp_path):
    record = read_run_record(finished)
    assert main([*shlex.split(record["command"])[1:], f"--out={tmp_path}"]) == 0
    again = read_run_record(tmp_path)
    assert {name for name in record if record[name] != again[name]} <= {"seconds"}
    assert same_weights(finished, tmp_path)


def test_the_test_digits_are_used_once_and_at_the_end(tmp_path, monkeypatch):
    seen, used = [], train_command.judge
    monkeypatch.setattr(train_command, "judge", lambda *a: seen.append(len(epochs())) or used(*a))

    def epochs():
        return read_run_record(tmp_path)["epochs"]

    assert main(["train", *SHORT, f"--out={tmp_path}"]) == 0
    assert seen == [4]


def test_a_log_gets_a_line_an_epoch(tmp_path, capsys):
    assert main(["train", "--epochs=2", "--device=cpu", f"--out={tmp_path}"]) == 0
    printed = capsys.readouterr()
    assert [line for line in printed.out.splitlines() if "loss" in line] == [
        line for line in printed.out.splitlines() if line.startswith("epoch ")
    ]
    assert printed.out.count("\nepoch ") == 2
    assert "test digits wrong" in printed.out
    assert printed.err == ""


def start(*words, **options):
    """Start the command in a process of its own, which Ctrl-C can stop."""
    return subprocess.Popen(
        [sys.executable, str(TINY), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **options,
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process alone")
def test_ctrl_c_leaves_a_run_that_a_new_process_ends_to_the_last_bit(finished, tmp_path):
    first = start("train", *SHORT, f"--out={tmp_path}")
    for line in first.stdout:
        if line.startswith("epoch 2"):
            first.send_signal(signal.SIGINT)
    _, said = first.communicate()
    assert first.returncode == 130
    assert said.splitlines()[-1].startswith("stopped after epoch ")
    assert said.splitlines()[-1].endswith(f"train --out {tmp_path} --resume")
    assert len(said.splitlines()) == 1
    assert read_run_record(tmp_path)["wrong"] is None
    assert not (tmp_path / "chart.svg").exists()
    second = start("train", f"--out={tmp_path}", "--resume")
    printed, said = second.communicate()
    assert (second.returncode, said) == (0, "")
    assert "\nepoch 1" not in printed
    assert "\nepoch 4" in printed
    assert same_weights(finished, tmp_path)
    expected, found = read_run_record(finished), read_run_record(tmp_path)
    assert {name for name in expected if expected[name] != found[name]} <= {"seconds"}
    assert (tmp_path / "chart.svg").read_bytes() == (finished / "chart.svg").read_bytes()


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("where", "done"), [("fit", 0), ("judge", 4)])
def test_a_run_stopped_anywhere_goes_on(where, done, finished, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patched:
        patched.setattr(train_command, where, interrupt)
        assert main(["train", *SHORT, f"--out={tmp_path}"]) == 130
    said = capsys.readouterr().err
    assert f"stopped after epoch {done} of 4: go on with" in said
    assert len(said.splitlines()) == 1
    write_run_record(tmp_path, read_run_record(tmp_path) | {"seconds": 1000.0})
    assert main(["train", f"--out={tmp_path}", "--resume"]) == 0
    assert same_weights(finished, tmp_path)
    assert read_run_record(tmp_path)["seconds"] >= 1000  # they add up
    expected, found = read_run_record(finished), read_run_record(tmp_path)
    assert {name for name in expected if expected[name] != found[name]} <= {"seconds"}


def test_a_run_stopped_before_it_has_a_record_can_not_go_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(train_command, "write_run_record", interrupt)
    assert main(["train", *SHORT, f"--out={tmp_path}"]) == 130
    assert capsys.readouterr().err == "stopped before the first step: nothing was written\n"
    assert not list(tmp_path.iterdir())


def test_the_command_that_goes_on_can_be_pasted_into_a_shell(tmp_path, monkeypatch, capsys):
    run = tmp_path / "my run"
    with monkeypatch.context() as patched:
        patched.setattr(train_command, "fit", interrupt)
        assert main(["train", *SHORT, f"--out={run}"]) == 130
    assert main(["evaluate", str(run)]) == 2
    hints = capsys.readouterr().err.splitlines()
    assert len(hints) == 2
    for hint in hints:
        words = shlex.split(hint.partition("go on with ")[2])
        assert words == ["capsnet-tutorial", "train", "--out", str(run), "--resume"]


def test_a_run_stopped_before_it_began_leaves_no_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(train_command, "Plan", interrupt)
    assert main(["train", *SHORT, f"--out={tmp_path / 'run'}"]) == 130
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_the_record_catches_up_with_the_checkpoint(finished, tmp_path):
    record = read_run_record(finished)
    # As if the power had failed between writing the checkpoint and the record.
    record["epochs"] = record["epochs"][:3]
    record |= dict.fromkeys(("wrong", "error", "interval"))
    (tmp_path / "checkpoint.pt").write_bytes((finished / "checkpoint.pt").read_bytes())
    write_run_record(tmp_path, record)
    assert main(["train", f"--out={tmp_path}", "--resume"]) == 0
    assert read_run_record(tmp_path)["epochs"] == read_run_record(finished)["epochs"]


def test_a_finished_run_trains_nothing_and_is_left_as_it_is(finished, monkeypatch, capsys):
    before = content(finished)
    monkeypatch.setattr(train_command, "fit", lambda *_, **__: pytest.fail("it trained"))
    assert main(["train", *SHORT, f"--out={finished}", "--resume"]) == 0
    assert "is finished" in capsys.readouterr().out
    assert content(finished) == before


def test_without_out_a_run_is_named_after_what_it_trains(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--epochs=1", "--device=cpu", "--no-reconstruction"]) == 0
    assert (tmp_path / "runs" / "small-sample" / "record.json").is_file()
    assert load_checkpoint("runs/small-sample/checkpoint.pt").model.decoder is None
    picture(tmp_path / "a.png", 0)
    assert main(["predict", "runs/small-sample", "a.png"]) == 0


@pytest.mark.parametrize("augment", ["affine", "none"])
def test_the_chart_says_what_happened_to_the_digits_in_training(augment, tmp_path):
    words = ["train", "--epochs=1", "--device=cpu", f"--augment={augment}", f"--out={tmp_path}"]
    assert main(words) == 0
    said = {"affine": "in training, distorted", "none": "in training, unmoved"}[augment]
    assert said in (tmp_path / "chart.svg").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.upkeep
def test_a_compiled_run_is_loaded_uncompiled(finished, tmp_path):
    # The back end "eager" needs no C++ compiler and compiles nothing, but wraps all the same.
    code = (
        "import functools, sys, torch, tiny_cli; tiny_cli.make_tiny();"
        "wrapped = torch.nn.Module.compile; seen = [];"
        "torch.nn.Module.compile ="
        " lambda self: (seen.append(1), wrapped(self, backend='eager'));"
        "code = tiny_cli.main(); assert seen; sys.exit(code)"
    )
    words = ["train", *SHORT, "--compile", f"--out={tmp_path}"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TINY.parent), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    loaded = load_checkpoint(tmp_path / "checkpoint.pt").model
    assert list(loaded.state_dict()) == list(
        load_checkpoint(finished / "checkpoint.pt").model.state_dict()
    )
    for mine, theirs in zip(weights(tmp_path), weights(finished), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=0)
    assert main(["evaluate", str(tmp_path)]) == 0


@pytest.mark.slow
@pytest.mark.upkeep
def test_without_a_compiler_a_compiled_run_is_refused_and_nothing_is_written(tmp_path):
    words = ["train", *SHORT, "--compile", f"--out={tmp_path / 'run'}"]
    nothing = {name: os.environ[name] for name in os.environ.keys() - {"CXX", "CC"}}
    nothing |= {"PATH": str(tmp_path), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(TINY), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=nothing)
    said = done.stderr
    assert done.returncode == 2
    assert "can't compile a network (InvalidCxxCompiler: No working C++ compiler" in said
    assert said.endswith("leave --compile out, or install a C++ compiler\n")
    assert [line for line in said.splitlines() if line.startswith("capsnet-tutorial")] == [
        said.splitlines()[-1]
    ]
    assert "Traceback" not in said
    assert not (tmp_path / "run").exists()


def test_a_loss_that_is_no_number_ends_the_run_with_the_cure(tmp_path, capsys):
    assert main(["train", *SHORT, "--learning-rate=1e30", f"--out={tmp_path}"]) == 2
    assert "lower --learning-rate than 1e+30" in capsys.readouterr().err
    assert read_run_record(tmp_path)["wrong"] is None


def spoil_after(steps):
    """Return an optimiser's step that makes the weights NaN after so many."""
    step, count = torch.optim.Adam.step, [0]

    def spoil(self, closure=None):
        step(self, closure)
        count[0] += 1
        if count[0] == steps:
            self.param_groups[0]["params"][0].data[0] = torch.nan

    return spoil


def test_weights_that_the_very_last_step_spoils_end_the_run_with_the_cure(
    tmp_path, monkeypatch, capsys
):
    # 43 digits in batches of 8 are 6 steps; the losses of the epoch are from before each.
    run, words = tmp_path / "run", ["train", "--epochs=2", "--device=cpu"]
    with monkeypatch.context() as patched:
        patched.setattr(torch.optim.Adam, "step", spoil_after(12))
        assert main([*words, f"--out={run}"]) == 2
    said = capsys.readouterr().err
    assert "no numbers any more in epoch 2: begin again in another folder" in said
    assert "lower --learning-rate than 0.0015" in said
    assert len(said.splitlines()) == 1
    before = content(run)
    picture(tmp_path / "a.png", 0)
    for words in (
        ["train", "--resume", f"--out={run}"],
        ["predict", str(run), f"{tmp_path}/a.png"],
    ):
        assert main(words) == 2
        said = capsys.readouterr().err
        assert "holds weights that are no numbers" in said
        assert len(said.splitlines()) == 1
    assert content(run) == before


def test_lesson_6_tells_of_a_run_whose_record_is_put_among_the_results(
    finished, tmp_path, monkeypatch, capsys
):
    lesson = (LESSONS / "06_training.py").read_text(encoding="utf-8")
    [cell] = [cell for cell in lesson.split("# %%\n") if '"paper_on_mnist"' in cell]
    shutil.copy(finished / "record.json", tmp_path / "paper_on_mnist.json")
    monkeypatch.setattr("capsnet_tutorial.records.RESULTS", tmp_path)
    exec(cell, {})
    record = read_run_record(finished)
    said = capsys.readouterr().out.partition("full network, on a CPU:\n")[2].splitlines()
    assert said[0] == f"{record['wrong']} of 20 test digits wrong: {record['error']:.2%}"
    assert said[2].startswith("4 epochs in ")
    assert said[3] == record["data"]
    assert said[6:] == ["all of MNIST, small network, on a CPU:", describe_run(None), ""]


def test_the_record_is_json_that_any_reader_knows(finished):
    text = (finished / "record.json").read_text(encoding="utf-8")
    assert json.loads(text, parse_constant=pytest.fail)["format"] == "capsnet-tutorial run 1"
