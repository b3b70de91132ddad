"""A tiny network in the small one's place, and a run of it."""

import pytest
import tiny_cli
from tiny_cli import SHORT

from capsnet_tutorial.cli import main


@pytest.fixture(autouse=True)
def _tiny(monkeypatch):
    tiny_cli.make_tiny(monkeypatch.setattr)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Return the folder of a run of four epochs, which no test may change."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    with pytest.MonkeyPatch.context() as patched:
        tiny_cli.make_tiny(patched.setattr)
        assert main(["train", *SHORT, f"--out={folder}"]) == 0
    return folder
