"""A run's record: what it holds, and what is refused when it is read."""

import json
import math
import subprocess

import pytest

from capsnet_tutorial import runs
from capsnet_tutorial.options import choose_options
from capsnet_tutorial.runs import check_empty, git_revision, read_run_record, write_run_record

OPTIONS = choose_options({"epochs": 2, "device": "cpu"})


def a_record():
    epoch = {
        "epoch": 1,
        "loss": 0.5,
        "margin_loss": 0.4,
        "reconstruction_loss": 50.0,
        "accuracy": 0.8,
        "validation_accuracy": 0.9,
        "validation_loss": 0.3,
    }
    return {
        "format": runs.FORMAT,
        "command": OPTIONS.command,
        "seed": 0,
        "data": "some digits",
        "counts": {"train": 3, "validation": 2, "test": 10},
        "device": "cpu",
        "hardware": "a processor",
        "python": "3.12",
        "torch": "2.9",
        "git": None,
        "processes": 1,
        "threads": 2,
        "options": vars(OPTIONS),
        "config": json.loads(json.dumps(vars(OPTIONS.recipe.config))),
        "seconds": 1.5,
        "epochs": [epoch, epoch | {"epoch": 2}],
        "total": 10,
        "wrong": 2,
        "error": 0.2,
        "interval": [0.1, 0.3],
    }


def test_a_record_reads_back_as_it_was_written(tmp_path):
    write_run_record(tmp_path, a_record())
    assert read_run_record(tmp_path) == a_record()
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]


def test_the_format_is_written_down_field_by_field():
    for name in a_record():
        assert f"`{name}`" in runs.__doc__, name
    assert set(a_record()) == set(runs.FIELDS)


@pytest.mark.parametrize("name", sorted(runs.FIELDS.keys() - {"format"}))
def test_a_record_that_lacks_something_is_refused(name, tmp_path):
    broken = a_record()
    del broken[name]
    (tmp_path / "record.json").write_text(json.dumps(broken))
    with pytest.raises(ValueError, match=rf"record\.json is broken: {name} is missing"):
        read_run_record(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "another"}, "no record of a run: expected 'capsnet-tutorial run 1'"),
        ({"seed": "0"}, "seed is missing or of the wrong type"),
        ({"seed": True}, "seed is missing or of the wrong type"),
        ({"wrong": 11}, "wrong must lie between 0 and total"),
        ({"wrong": -1}, "wrong must lie between 0 and total"),
        ({"wrong": None}, "wrong, error and interval"),
        ({"interval": None}, "wrong, error and interval"),
        ({"interval": [0.1]}, "interval is not two numbers"),
        ({"interval": [0.1, "0.3"]}, "interval is not two numbers"),
        ({"seconds": -1.0}, "seconds must not be negative"),
        ({"counts": {"train": 3}}, "counts must give train, validation and test"),
        ({"epochs": []}, "its epochs are not 1 to 2"),
        ({"epochs": [{"epoch": 1}]}, "missing"),
        ({"epochs": [1, 2]}, "must be a mapping"),
        ({"epochs": a_record()["epochs"][1:]}, "its epochs are not"),
        ({"epochs": a_record()["epochs"] * 2}, "its epochs are not"),
        ({"options": {}}, "missing"),
        ({"options": {**vars(OPTIONS), "routing": 2}}, "its options and its config differ"),
        ({"options": {**vars(OPTIONS), "routing": 0}}, "broken: num_iterations must be"),
        ({"options": {**vars(OPTIONS), "data": "foo"}}, "broken: data must be one of sample"),
        ({"options": {**vars(OPTIONS), "epochs": "1"}}, r"(?s)broken: .*epochs"),
        ({"error": 0.9}, "error must be wrong / total"),
        ({"config": {"conv_channels": 0}}, "conv_channels must be"),
    ],
)
def test_a_record_that_makes_no_sense_is_neither_read_nor_written(change, said, tmp_path):
    broken = a_record() | change
    (tmp_path / "record.json").write_text(json.dumps(broken))
    before = (tmp_path / "record.json").read_bytes()
    with pytest.raises(ValueError, match=said):
        read_run_record(tmp_path)
    with pytest.raises(ValueError, match=said):
        write_run_record(tmp_path, broken)
    assert (tmp_path / "record.json").read_bytes() == before


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": NaN}', "\x00"])
def test_a_file_that_is_no_record_is_named(text, tmp_path):
    (tmp_path / "record.json").write_text(text)
    with pytest.raises(ValueError, match=r"record\.json is (broken|no record)"):
        read_run_record(tmp_path)


def test_numbers_that_json_does_not_know_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="JSON compliant"):
        write_run_record(tmp_path, a_record() | {"seconds": math.inf})
    assert not list(tmp_path.iterdir())


def test_numbers_that_json_does_not_know_are_not_read(tmp_path):
    (tmp_path / "record.json").write_text(json.dumps(a_record() | {"seconds": math.nan}))
    with pytest.raises(ValueError, match="NaN is no number that JSON knows"):
        read_run_record(tmp_path)


def test_a_folder_is_empty_or_it_is_refused(tmp_path):
    check_empty(tmp_path)
    check_empty(tmp_path / "not there")
    (tmp_path / "a").write_text("mine")
    for taken in (tmp_path, tmp_path / "a"):
        with pytest.raises(FileExistsError, match="is not empty"):
            check_empty(taken)


def test_the_revision_is_gits_where_git_tracks_the_package(tmp_path, monkeypatch):
    module = tmp_path / "package" / "runs.py"
    module.parent.mkdir()
    module.write_text("")

    def git(*words):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(runs, "__file__", str(module))
    git("init")
    assert git_revision() is None  # not tracked: the repository is somebody else's
    git("add", ".")
    git("commit", "-m", "a")
    revision = git_revision()
    assert len(revision) == 40
    module.write_text("changed")
    assert git_revision() == f"{revision}-dirty"
    monkeypatch.setenv("PATH", "")
    assert git_revision() is None
