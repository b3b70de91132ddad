"""What make says where it can't go on."""

import os
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parent.parent / "Makefile"

OLD = """#!/bin/sh
[ "$1" = --version ] && echo "Python 3.11.9" && exit 0
exit 1
"""


@pytest.mark.parametrize("name", ["old-python", "no-python"])
def test_a_python_that_is_too_old_or_missing_is_named_with_the_cure(name, tmp_path):
    old = tmp_path / "old-python"
    old.write_text(OLD)
    old.chmod(0o755)
    made = subprocess.run(
        ["make", "--silent", "--file", MAKEFILE, f"PYTHON={tmp_path / name}", ".venv/ready"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},  # not that of a make which runs this test
        capture_output=True,
        text=True,
    )
    said, *make_itself = made.stderr.splitlines()
    assert said.startswith("Python 3.12 or newer is needed")
    assert ("is Python 3.11.9" in said) == (name == "old-python")
    assert "https://www.python.org/downloads/" in said
    assert all(line.startswith("make: ***") for line in make_itself)
    assert not (tmp_path / ".venv").exists()
