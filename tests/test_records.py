"""Recorded runs: each says how it was made, and reads back as it was written."""

import json
import math
from pathlib import Path

import pytest

from capsnet_tutorial import records

NEEDED = {"command", "seed", "data", "device", "hardware", "python", "torch"}


def test_a_record_reads_back_with_how_it_was_made(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "RESULTS", tmp_path / "results")
    path = records.write_record("a", "python a.py", 0, "none", figures=[1, 2.5], note="×")
    assert path == tmp_path / "results" / "a.json"
    record = records.read_record("a")
    assert record["figures"] == [1, 2.5]
    assert set(record) == NEEDED | {"figures", "note"}


def test_a_missing_record_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no recorded run a\.json"):
        records.read_record("a")


def test_a_record_that_nobody_made_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    assert records.find_record("a") is None
    records.write_record("a", "python a.py", 0, "none")
    assert records.find_record("a") == records.read_record("a")


def test_every_record_in_the_repository_says_how_it_was_made():
    for path in sorted(records.RESULTS.glob("*.json")):
        record = json.loads(path.read_text())
        assert set(record) > NEEDED, path.name
        assert record["command"], path.name


def test_a_record_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    path = records.write_record("a", "python a.py", 0, "none", figure=1)
    before = path.read_bytes()
    for figures, said in (
        ({"figure": math.nan}, "JSON compliant"),
        ({"figure": [math.inf]}, "JSON compliant"),
        ({"torch": "mine"}, "every record holds its own torch"),
        ({"python": 1, "hardware": 2}, "every record holds its own hardware, python"),
    ):
        with pytest.raises(ValueError, match=said):
            records.write_record("a", "python a.py", 0, "none", **figures)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert path.read_bytes() == before


def test_whoever_stops_the_writing_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    records.write_json(path, {"figure": 1})
    write_text = Path.write_text

    def stop_halfway(self, text, **options):
        write_text(self, text[: len(text) // 2], **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", stop_halfway)
    with pytest.raises(KeyboardInterrupt):
        records.write_json(path, {"figure": 2})
    assert json.loads(path.read_bytes()) == {"figure": 1}
    assert list(tmp_path.iterdir()) == [path]
