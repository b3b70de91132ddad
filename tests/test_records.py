"""Recorded runs: each says how it was made, and reads back as it was written."""

import json

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
