"""Judging a run from a terminal: by the digits it never learned from."""

import tiny_cli
import torch
from tiny_cli import content

from capsnet_tutorial import (
    Digits,
    load_checkpoint,
    save_checkpoint,
)
from capsnet_tutorial.cli import main
from capsnet_tutorial.runs import read_run_record, write_run_record


def test_evaluate_prints_what_the_record_says(finished, capsys):
    record, before = read_run_record(finished), content(finished)
    assert main(["evaluate", str(finished)]) == 0
    low, high = record["interval"]
    assert capsys.readouterr().out.splitlines() == [
        f"{record['wrong']} of 20 sample test digits wrong: {record['error']:.2%}",
        f"95% interval: {low:.2%} to {high:.2%}",
    ]
    assert content(finished) == before


def test_a_finished_run_with_spoilt_weights_is_not_judged(finished, tmp_path, capsys):
    model, extra = load_checkpoint(finished / "checkpoint.pt")
    model.conv.bias.data[0] = torch.nan
    save_checkpoint(tmp_path / "checkpoint.pt", model, **extra)
    write_run_record(tmp_path, read_run_record(finished))
    assert main(["evaluate", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert "holds weights that are no numbers any more: train again" in printed.err
    assert printed.out == ""


def test_a_run_on_mnist_is_not_judged_by_the_sample_that_is_part_of_it(
    finished, tmp_path, capsys, monkeypatch
):
    parts = tiny_cli.few_digits()
    monkeypatch.setattr("capsnet_tutorial.recipes.mnist", lambda root, train=True: parts[not train])
    monkeypatch.setattr(
        "capsnet_tutorial.recipes.split", lambda digits, count: (digits, Digits(*parts[1]))
    )
    words = ["train", "--data=mnist", "--epochs=1", "--device=cpu", "--data-dir=there"]
    assert main([*words, f"--out={tmp_path}"]) == 0
    assert main(["evaluate", str(tmp_path)]) == 0
    assert "mnist test digits" in capsys.readouterr().out
    assert main(["evaluate", str(tmp_path), "--data=sample"]) == 2
    assert "the sample digits are among them" in capsys.readouterr().err
    assert main(["evaluate", str(finished), "--data=mnist"]) == 0
