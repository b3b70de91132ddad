"""Execute the lessons, write their notebooks, and say which notebooks are stale.

`lessons/NN_name.py` is what an author edits. Its twin `lessons/NN_name.ipynb` holds the same cells
with their outputs, and a stamp: the hash of every file that the outputs depend on.

    python tools/lessons.py write [NAME ...]   execute lessons and write their notebooks
    python tools/lessons.py check [NAME ...]   compare notebooks with lessons, changing nothing
    python tools/lessons.py run [NAME ...]     execute lessons, writing nothing
    python tools/lessons.py run --gpu NAME     the same, with this machine's GPU and all of MNIST
    python tools/lessons.py copy FOLDER        copy the notebooks to a folder to play in
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from fitness import refuse_unfit
from twins import METADATA, OUTPUTS, ROOT, LessonError, check_all, find, hash_outputs, label, read

# So that lessons run alike everywhere: no GPU, and the digits that come with a package.
ALIKE = {"CUDA_VISIBLE_DEVICES": "", "CAPSNET_DATA": ""}

# What differs from one execution to the next must not be in a notebook.
VOLATILE = re.compile(r"\bat 0x[0-9a-f]{6,}|/ipykernel_\d+")


def execute(lesson: Path, timeout: int = 900, gpu: bool = False) -> Any:
    """Execute a lesson in a fresh kernel, in its folder, and return the notebook.

    Args:
        lesson: the lesson.
        timeout: seconds that a cell may take.
        gpu: let the lesson see this machine's GPU and its folder of digits.

    Raises:
        LessonError: if a cell fails, writes to stderr, or prints what differs from run to run.
    """
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    notebook = read(lesson)
    started = [0]
    with tempfile.TemporaryDirectory() as scratch:
        kernel = AsyncKernelManager(
            # Without folders to search, the kernel is the Python that runs this file.
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=str(Path(scratch, "kernel.json")),
            # No open ports, where there is another way.
            transport="tcp" if os.name == "nt" else "ipc",
        )
        client = NotebookClient(
            notebook,
            km=kernel,
            timeout=timeout,
            record_timing=False,
            coalesce_streams=True,
            on_cell_start=lambda cell, cell_index: started.append(cell_index),
            resources={"metadata": {"path": str(lesson.parent)}},
        )
        environment = {
            "IPYTHONDIR": scratch,  # nobody's own start-up files
            "OMP_NUM_THREADS": "2",  # sums don't depend on how many cores there are
            "OMP_WAIT_POLICY": "PASSIVE",  # a thread that waits leaves its core to others
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(lesson.parent.parent),
            "TQDM_DISABLE": "1",  # progress bars go to stderr
        }
        environment |= {} if gpu else ALIKE
        try:
            client.execute(env=os.environ | environment, cleanup_kc=True)
        except CellExecutionError:
            pass  # the notebook holds the error
        except (CellTimeoutError, RuntimeError) as error:
            raise LessonError(f"{label(lesson)}, cell {started[-1]}: {error}") from error
    refuse(notebook, lesson)
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = METADATA["language_info"]
    return notebook


def refuse(notebook: Any, lesson: Path) -> None:
    """Look for what no notebook may hold.

    Raises:
        LessonError: naming the lesson, the cell and the fault.
    """
    refuse_unfit(notebook.cells, label(lesson))
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if volatile := VOLATILE.search(json.dumps(output)):
                where = f"{label(lesson)}, cell {number} (`{cell.source.splitlines()[0]}`)"
                raise LessonError(f"{where} prints {volatile[0]!r}, which differs from run to run")


def write(lesson: Path) -> Path:
    """Execute a lesson and write its notebook, whole or not at all.

    Returns:
        The notebook.

    Raises:
        LessonError: if the lesson can't be executed; the notebook then stays as it was.
    """
    import nbformat

    notebook = execute(lesson)
    # Hash what a reader of the file will see: writing joins and splits lines.
    saved = json.loads(nbformat.writes(notebook, version=4))
    notebook.metadata["stamp"][OUTPUTS] = hash_outputs(saved)
    text = nbformat.writes(notebook, version=4) + "\n"
    twin = lesson.with_suffix(".ipynb")
    replace(twin, text)
    return twin


def replace(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text, encoding="utf-8", newline="\n")
    draft.replace(path)


def copy(folder: Path, root: Path = ROOT) -> list[str]:
    """Copy the notebooks that a folder lacks; never touch one that is there.

    Returns:
        What was done, in sentences.

    Raises:
        LessonError: if the folder is a file, or lies under one.
    """
    for place in (folder, *folder.parents):
        if place.is_file():
            raise LessonError(f"{place} is a file: name a folder to copy the lessons to")
    folder.mkdir(parents=True, exist_ok=True)
    said = []
    for twin in sorted((root / "lessons").glob("*.ipynb")):
        mine = folder / twin.name
        if not mine.exists():
            shutil.copy(twin, mine)
            said.append(f"{mine}: copied")
        elif mine.read_bytes() != twin.read_bytes():
            said.append(f"{mine}: kept, it differs from {label(twin)} (delete it to get that one)")
    return said


def _each(lessons: list[Path], action: Any) -> int:
    """Do something with every lesson, say how it went, and return the exit status."""
    status = 0
    for lesson in lessons:
        try:
            action(lesson)
            print(f"{label(lesson)}: done")
        except LessonError as error:
            print(error, file=sys.stderr)
            status = 1
    return status


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("write", "check", "run"):
        commands.add_parser(command).add_argument("names", nargs="*", metavar="NAME")
    commands.choices["run"].add_argument("--gpu", action="store_true")
    commands.add_parser("copy").add_argument("folder", type=Path, metavar="FOLDER")
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "write":
            status = _each(find(asked.names, root), write)
            write_home_pictures(root)
            return status
        if asked.command == "run":
            limit = 6 * 3600 if asked.gpu else 900
            return _each(find(asked.names, root), partial(execute, timeout=limit, gpu=asked.gpu))
        said = copy(asked.folder, root) if asked.command == "copy" else check_all(asked.names, root)
    except LessonError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(said), end="\n" if said else "")
    return int(bool(said) and asked.command == "check")


def write_home_pictures(root: Path) -> None:
    """Draw the home page's pictures, docs/assets/capsule.svg and routing.svg."""
    import torch

    from capsnet_tutorial.plotting import capsule_picture
    from capsnet_tutorial.plotting_routing import prediction_arrows

    from_first = [[1.0, 0.2], [0.9, 0.9], [0.1, 0.0]]
    from_second = [[0.9, 0.3], [-0.9, -0.8], [0.0, 0.1]]
    assets = root / "docs/assets"
    assets.mkdir(parents=True, exist_ok=True)
    replace(assets / "capsule.svg", capsule_picture().svg)
    guesses = prediction_arrows(torch.tensor([from_first, from_second]))
    replace(assets / "routing.svg", guesses.svg)


if __name__ == "__main__":
    sys.exit(main())
