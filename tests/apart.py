"""Run pytest in a process of its own, on a folder that holds a package and its tests."""

import os
import sys
from pathlib import Path

OUTPUT = "output.txt"


def run_pytest(folder: Path, words: list[str]) -> None:
    """Run pytest in a folder, write what it prints to OUTPUT there, and end with its exit code."""
    import pytest

    os.chdir(folder)
    os.environ["PYTEST_ADDOPTS"] = ""
    sys.path.insert(0, str(folder))
    with open(OUTPUT, "w", encoding="utf-8") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    sys.exit(pytest.main(words))
