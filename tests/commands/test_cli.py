"""The command line: bad input is named in a sentence, and every command is there."""

import shlex
import shutil
import subprocess
import sys

import pytest
from PIL import Image
from tiny_cli import content, picture

from capsnet_tutorial.cli import main
from capsnet_tutorial.runs import read_run_record, write_run_record

BAD = {
    "train --epochs 0": "at least one digit, one epoch and one image a batch",
    "train --epochs x": "invalid int value: 'x'",
    "train --batch-size -3": "one image a batch",
    "train --batch-size 9999999999999999999": "epochs and batch_size must be below 2^63",
    "train --epochs 9999999999999999999": "epochs and batch_size must be below 2^63",
    "train --learning-rate 0": "learning_rate must be above 0",
    "train --learning-rate nan": "learning_rate must be above 0",
    "train --routing 0": "num_iterations must be a whole number of at least 1",
    "train --seed -1": "a seed lies between 0 and",
    "train --device nowhere": "there is no device 'nowhere'",
    "train --device cuda:99": "no device 'cuda:99'",
    "train --preset huge": "invalid choice: 'huge'",
    "train --augment mirror": "invalid choice: 'mirror'",
    "train --precision fp8": "invalid choice: 'fp8'",
    "train --out FINISHED": "is not empty: name another folder",
    "train --out FILE": "is not empty: name another folder",
    "train --out FILE/run": "Not a directory",
    "train --out NOWHERE --resume": "there is no run in",
    "train --out FINISHED --resume --epochs 5": "begun with epochs 4, not 5",
    "train --out FINISHED --resume --preset paper": "begun with preset small, not paper",
    "train --out BROKEN --resume": "record.json is broken",
    "train --out DAMAGED --resume": "is damaged or no checkpoint",
    "train --out LOST --resume": "checkpoint.pt is missing, and with it what was learned",
    "train --out FOREIGN --resume": "belongs to another training, with seed 0, not 5",
    "train --data-dir ''": "--data-dir: a path is needed, got an empty text",
    "train --out ' '": "--out: a path is needed",
    "evaluate ''": "a path is needed",
    "evaluate FINISHED --data-dir ''": "--data-dir: a path is needed",
    "predict FINISHED ''": "IMAGE: a path is needed",
    "train --data mnist --data-dir NOWHERE": "MNIST is not in",
    "evaluate NOWHERE": "there is no run in",
    "evaluate BROKEN": "record.json is broken",
    "evaluate DAMAGED": "has done 0 of 4 epochs, and the test digits are kept for its end",
    "evaluate LOST": "has done 2 of 4 epochs",
    "evaluate MIXED": "is of another run: its network is CapsNetConfig(",
    "evaluate FINISHED --data other": "invalid choice: 'other'",
    "evaluate FINISHED --data mnist --data-dir NOWHERE": "MNIST is not in",
    "predict NOWHERE FILE": "there is no checkpoint at",
    "predict FINISHED NOWHERE": "there is no picture at",
    "predict FINISHED FILE": "is no picture that can be read",
    "predict FINISHED BLANK": "is of one tone",
    "predict FINISHED PICTURE FILE": "is no picture that can be read",
    "predict FINISHED PICTURE --out FILE": "File exists",
    "predict FINISHED": "required: IMAGE",
    "": "required: COMMAND",
    "bake": "invalid choice: 'bake'",
}


SPOILT = ("BROKEN", "DAMAGED", "LOST", "FOREIGN", "MIXED")


def make_spoilt_runs(finished, folder):
    """Make folders of runs in which something is missing, or doesn't belong together."""
    record = read_run_record(finished)
    unfinished = record | dict.fromkeys(("wrong", "error", "interval"))
    records = {
        "damaged": unfinished | {"epochs": []},
        "lost": unfinished | {"epochs": record["epochs"][:2]},
        "foreign": unfinished | {"epochs": [], "options": record["options"] | {"seed": 5}},
        "mixed": record
        | {"options": record["options"] | {"routing": 2}}
        | {"config": record["config"] | {"num_iterations": 2}},
    }
    for name, spoilt in records.items():
        (folder / name).mkdir()
        write_run_record(folder / name, spoilt)
    (folder / "broken").mkdir()
    (folder / "broken" / "record.json").write_text("{")
    (folder / "damaged" / "checkpoint.pt").write_bytes(b"PK\3\4 and no more")
    for name in ("foreign", "mixed"):
        shutil.copy(finished / "checkpoint.pt", folder / name)


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_named_in_one_sentence_and_nothing_is_written(
    words, finished, tmp_path, capsys, monkeypatch
):
    def refuse(*arguments, **options):
        raise OSError("no network here")

    monkeypatch.setattr("torchvision.datasets.mnist.download_and_extract_archive", refuse)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    Image.new("L", (30, 30), 200).save(tmp_path / "blank.png")
    picture(tmp_path / "picture.png", 0)
    make_spoilt_runs(finished, tmp_path)
    places = {name: name.lower() for name in ("FILE", "NOWHERE", *SPOILT)}
    places |= {"FINISHED": str(finished), "BLANK": "blank.png", "PICTURE": "picture.png"}
    before = content(tmp_path) | content(finished)
    spelt = " ".join(places.get(word, word) for word in words.replace("/", " / ").split())
    try:
        code = main(shlex.split(spelt.replace(" / ", "/")))
    except SystemExit as ended:
        code = ended.code
    printed = capsys.readouterr()
    assert code == 2
    assert BAD[words] in printed.err
    assert len(printed.err.splitlines()) == 1
    assert printed.err.startswith("capsnet-tutorial")
    assert content(tmp_path) | content(finished) == before
    # torchvision makes a folder before it looks for the network.
    assert "--data-dir" in words or not (tmp_path / "nowhere").exists()


def test_the_package_itself_is_the_command():
    command = [sys.executable, "-m", "capsnet_tutorial", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "usage: capsnet-tutorial" in done.stdout
    for name in ("train", "evaluate", "predict", "bench"):
        assert name in done.stdout


def test_bench_hands_its_words_to_the_benchmark(monkeypatch, tmp_path, capfd):
    assert main(["bench", "--help"]) == 0
    assert "--rounds" in capfd.readouterr().out
    monkeypatch.setattr("capsnet_tutorial.cli.BENCHMARK", tmp_path / "step.py")
    assert main(["bench"]) == 2
    assert "bench needs the repository" in capfd.readouterr().err
