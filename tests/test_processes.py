"""Several processes train as one does: shares make up the batch, and means are over all images."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from capsnet_tutorial import CapsNet, CapsNetConfig, Digits, fit, training
from capsnet_tutorial.processes import Processes

TINY = Path(__file__).with_name("tiny_cli.py")


def one_of(rank, size):
    processes = Processes()
    processes.rank, processes.size = rank, size
    return processes


def numbered(count):
    return Digits(torch.arange(float(count)).reshape(-1, 1, 1, 1), torch.arange(count))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_shares_of_all_processes_make_up_each_batch(size):
    batches = [numbered(8), numbered(5)]
    everyone = [one_of(rank, size) for rank in range(size)]
    dealt = [list(processes.shares(batches)) for processes in everyone]
    for number, batch in enumerate(batches):
        parts = [shares[number] for shares in dealt]
        assert torch.cat([part.labels for part in parts]).equal(batch.labels)
        assert torch.cat([part.images for part in parts]).equal(batch.images)
        sizes = [len(part.labels) for part in parts]
        assert max(sizes) - min(sizes) <= 1
    assert sum(processes.num_digits for processes in everyone) == 13


def test_a_share_counts_by_its_size_while_its_step_is_taken():
    first, second = one_of(0, 2), one_of(1, 2)
    for batch, *_ in zip([5, 4], first.shares([numbered(5), numbered(4)]), strict=True):
        assert first.share == {5: 3 / 5, 4: 2 / 4}[batch]
    list(second.shares([numbered(5)]))
    assert second.share == 2 / 5


def test_a_batch_too_small_for_all_processes_is_refused():
    one_of(0, 2).check_batches(10, 4)
    one_of(0, 1).check_batches(9, 4)
    one_of(0, 4).check_batches(8, 4)
    with pytest.raises(ValueError, match="the smallest batch has 1 images for 2 processes"):
        one_of(0, 2).check_batches(9, 4)
    with pytest.raises(ValueError, match="has 3 images for 4 processes"):
        one_of(0, 4).check_batches(3, 8)


def test_one_process_takes_all_and_leaves_the_network_as_it_is():
    alone, model = Processes(), torch.nn.Linear(1, 1)
    assert alone.join(model) is model
    assert alone.mean([1.0, 2.0], torch.device("cpu")) == [1.0, 2.0]
    [batch] = alone.shares([numbered(3)])
    assert batch.labels.equal(numbered(3).labels)
    assert alone.share == 1


def test_of_several_processes_only_the_first_writes_and_prints(tmp_path, monkeypatch, capsys):
    for rank in (1, 0):
        # Each alone, so that it waits for nobody.
        monkeypatch.setattr(training, "Processes", lambda rank=rank: one_of(rank, 1))
        model = CapsNet(CapsNetConfig.small(image_shape=(1, 17, 17), conv_channels=4))
        digits = Digits(torch.zeros(2, 1, 17, 17), torch.tensor([0, 1]))
        monkeypatch.setattr(Processes, "shares", lambda self, dealt: dealt)
        fit(model, digits, epochs=1, checkpoint=tmp_path / "a.pt")
        assert (tmp_path / "a.pt").exists() == (rank == 0)
        assert bool(capsys.readouterr().out) == (rank == 0)


def start(*words, processes=1):
    several = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    command = [sys.executable, *(several if processes > 1 else []), str(TINY), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
@pytest.mark.skipif(
    not torch.distributed.is_gloo_available(), reason="needs PyTorch's gloo for processes on CPUs"
)
def test_two_processes_have_the_losses_of_one_and_one_of_them_writes(tmp_path):
    alone, both = tmp_path / "alone", tmp_path / "both"
    start("train", "--epochs=3", f"--out={alone}")
    done = start("train", "--epochs=3", f"--out={both}", processes=2)
    # 43 digits in batches of 8: the last has 3, of which one process takes 2.
    assert [line.split(":")[0] for line in done.stdout.splitlines() if "loss" in line] == [
        "epoch 1",
        "epoch 2",
        "epoch 3",
    ]
    one, two = (json.loads((run / "record.json").read_text()) for run in (alone, both))
    assert (one["processes"], two["processes"]) == (1, 2)
    for expected, found in zip(one["epochs"], two["epochs"], strict=True):
        assert found == pytest.approx(expected, abs=1e-4)
    assert one["counts"] == two["counts"]
    assert two["command"].startswith("torchrun --nproc-per-node=2 -m capsnet_tutorial train")
    assert sorted(path.name for path in both.iterdir()) == sorted(
        path.name for path in alone.iterdir()
    )
