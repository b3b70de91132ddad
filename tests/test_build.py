"""What must stop a build of the site, and how it is said."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sites import ROOT, build, docs_environment

pytestmark = pytest.mark.slow

LESSONS = sorted((ROOT / "lessons").glob("*.ipynb"))


@pytest.fixture
def copy(tmp_path) -> Path:
    """Return a copy of all that the site is made of, to break."""
    for name in ("docs", "lessons", "theme"):
        ignored = shutil.ignore_patterns("node_modules", "kernel-ipc*")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    (tmp_path / "theme/node_modules").symlink_to(ROOT / "theme/node_modules")
    for name in ("capsnet_tutorial", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    return tmp_path


def first_code(cells: list[dict]) -> dict:
    return next(cell for cell in cells if cell["cell_type"] == "code")


def crash(cells):
    first_code(cells)["outputs"] = [
        {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}
    ]


def misspell(cells):
    cells[0]["source"] = ["# Title\n", "\n", r"$\frac{1}$"]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (crash, "ValueError"),
        (misspell, "frac{1}"),
    ],
)
def test_an_unfit_lesson_stops_the_build_by_name(copy, spoil, says):
    lesson = copy / "lessons" / LESSONS[0].name
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    spoil(notebook["cells"])
    lesson.write_text(json.dumps(notebook), encoding="utf-8")
    result = build(copy, copy / "site")
    assert result.returncode != 0
    assert lesson.name in result.stderr
    assert says in result.stderr


def test_a_lesson_without_its_notebook_stops_the_build_by_name(copy):
    (copy / "lessons" / "07_alone.py").write_text("# %%\n", encoding="utf-8")
    result = build(copy, copy / "site")
    assert result.returncode != 0
    assert "07_alone" in result.stderr


def test_a_strict_build_stops_at_a_lost_link_and_at_a_lesson_edited_since_it_was_executed(copy):
    first, second = (copy / "lessons" / lesson.name for lesson in LESSONS[:2])
    notebook = json.loads(first.read_text(encoding="utf-8"))
    notebook["cells"][0]["source"] = ["# Title\n", "\n", "[nowhere](99_nothing.ipynb)"]
    first.write_text(json.dumps(notebook), encoding="utf-8")
    script = second.with_suffix(".py")
    script.write_text(script.read_text(encoding="utf-8") + "#\n", encoding="utf-8")
    result = build(copy, copy / "site")
    assert result.returncode != 0
    edited, lost = (line for line in result.stderr.splitlines() if line.startswith("WARNING"))
    said = f"lessons/{script.name} was edited since it was executed: run `make lessons`."
    assert edited.endswith(said)
    assert first.name in lost
    assert "99_nothing.ipynb" in lost


def test_the_site_is_built_without_torch(served_site, tmp_path):
    command, environment = [sys.executable, "-c", "import torch"], docs_environment(tmp_path)
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert "the site needs no torch" in result.stderr
    assert (served_site.folder / "source/routing.html").is_file()


def test_missing_npm_packages_are_named_with_the_command(copy):
    (copy / "theme/node_modules").unlink()
    result = build(copy, copy / "site")
    assert result.returncode != 0
    assert "npm ci" in result.stderr
    assert "Traceback" not in result.stderr
