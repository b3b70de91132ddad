"""CONTRIBUTING.md keeps its promise: its lesson, in its commands, becomes a tested page."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLE = re.search(r"```python\n(.*?)```", GUIDE, re.DOTALL)[1]


def test_the_guide_needs_at_most_five_commands():
    way = GUIDE[: GUIDE.index("## Rules of the house")]
    assert len(re.findall(r"^make ", way, re.MULTILINE)) <= 4  # and one file that is written


def test_the_makefile_knows_the_guides_commands():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^(?:\| `)?make (\w+)", GUIDE, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert "tools/lessons.py write $(NAMES)" in makefile


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of all files that make the site and the lessons, with the guide's lesson in it."""
    root = tmp_path_factory.mktemp("copy") / "tutorial"
    skip = shutil.ignore_patterns(".venv", ".git", "site", "runs", "__pycache__", "node_modules")
    shutil.copytree(ROOT, root, ignore=skip)
    (root / "theme/node_modules").symlink_to((ROOT / "theme/node_modules").resolve())
    (root / "lessons/07_leaning.py").write_text(EXAMPLE, encoding="utf-8")
    return root


def run(root, *command):
    environment = os.environ | {"PYTHONPATH": str(root), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.upkeep
def test_the_guides_lesson_becomes_a_tested_page(copy):
    run(copy, "tools/lessons.py", "write", "07")
    passed = run(copy, "-m", "pytest", "-q", "-n0", "tests/test_lessons.py", "-k", "07_leaning")
    assert re.match(r"\.{9,}", passed)
    run(copy, "-m", "mkdocs", "build", "--strict", "--site-dir", "site")
    page = (copy / "site/lessons/07_leaning.html").read_text(encoding="utf-8")
    assert "How far does an 8 lean?" in page
    home = (copy / "site/index.html").read_text(encoding="utf-8")
    assert "lessons/07_leaning.html" in home
