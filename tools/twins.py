"""Compare lessons with their notebooks: pairs of cells, and a stamp for what outputs depend on.

Reads files only, and needs neither PyTorch nor a kernel.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "capsnet_tutorial"
OUTPUTS = "outputs"
METADATA = {
    "jupytext": {"formats": "ipynb,py:percent"},
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}


class LessonError(Exception):
    """A lesson that can't be executed or found; the text names it and says why."""


def find(names: list[str], root: Path = ROOT) -> list[Path]:
    """Return the lessons' files: all, or those whose name starts with one of `names`.

    Raises:
        LessonError: if there is no lesson, or a name fits none.
    """
    lessons = sorted((root / "lessons").glob("*.py"))
    if not lessons:
        raise LessonError("there is no lesson in lessons/")
    if not names:
        return lessons
    wanted = [Path(name).name.removesuffix(".py").removesuffix(".ipynb") for name in names]
    for name in wanted:
        if not any(lesson.stem.startswith(name) for lesson in lessons):
            raise LessonError(f"there is no lesson {name!r} in lessons/")
    return [lesson for lesson in lessons if lesson.stem.startswith(tuple(wanted))]


def read(lesson: Path) -> Any:
    """Return a lesson as a notebook without outputs, its cells named by their position."""
    import jupytext

    stamped = METADATA | {"stamp": stamp(lesson)}
    notebook = jupytext.read(lesson, fmt="py:percent")
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02}"
        cell.metadata.pop("lines_to_next_cell", None)  # jupytext's note on blank lines
    notebook.metadata = stamped
    return notebook


def stamp(lesson: Path) -> dict[str, str]:
    """Return the hash of each file that a lesson's outputs depend on.

    These are the lesson, the package's modules that it imports, those that they import, and the
    recorded runs that it names.
    """
    root = lesson.parent.parent
    found, waiting = {lesson: _read_text(lesson)}, [lesson]
    while waiting:
        reading = waiting.pop()
        try:
            dependencies = list(_dependencies(found[reading], root))
        except SyntaxError as error:
            where = f"{label(reading)}, line {error.lineno}"
            raise LessonError(f"{where} isn't valid Python: {error.msg}") from error
        for path in dependencies:
            if not path.is_file():
                raise LessonError(f"{label(reading)} imports {label(path)}, which isn't there")
            if path not in found:
                found[path] = _read_text(path)
                waiting += [path] if _imports_matter(path) else []
    return {path.relative_to(root).as_posix(): _hash(text) for path, text in sorted(found.items())}


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise LessonError(f"{label(path)} isn't UTF-8: save it in that encoding") from error


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _imports_matter(path: Path) -> bool:
    """Say whether to follow a file's imports: the front door opens to more than a lesson takes."""
    return path.suffix == ".py" and path.name != "__init__.py"


def hash_outputs(notebook: dict) -> str:
    """Return the hash of all that the code cells put out, so that an edit by hand is noticed."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    outputs = [[cell["execution_count"], cell["outputs"]] for cell in cells]
    return _hash(json.dumps(outputs, sort_keys=True))


def _dependencies(source: str, root: Path) -> Iterator[Path]:
    """Yield the package's modules that a source imports and the recorded runs that it names."""
    package = root / PACKAGE
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            yield package / "__init__.py"
            for alias in node.names:
                yield from _modules_of(alias.name, package)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
            yield package / f"{node.module.split('.')[1]}.py"
        elif isinstance(node, ast.Import) and any(a.name.startswith(PACKAGE) for a in node.names):
            yield from package.glob("*.py")
        elif isinstance(node, ast.Constant) and re.fullmatch(r"[\w./-]+", str(node.value)):
            # A record is named by its stem or by its file.
            record = root / "results" / Path(str(node.value).removesuffix(".json") + ".json").name
            if record.is_file():
                yield record


def _modules_of(name: str, package: Path) -> list[Path]:
    """Return the modules from which the package's front door takes a name, or `*`."""
    if name == "*":
        return sorted(package.glob("*.py"))
    if (package / f"{name}.py").is_file():
        return [package / f"{name}.py"]
    for node in ast.walk(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and name in [a.asname or a.name for a in node.names]:
            return [package / f"{node.module.split('.')[-1]}.py"]
    return [package / "__init__.py"]


def check(lesson: Path) -> list[str]:
    """Return what is stale in a lesson's notebook, in sentences; nothing is executed."""
    twin = lesson.with_suffix(".ipynb")
    if not lesson.is_file():
        return [f"{label(twin)} has no lesson {lesson.name}"]
    if not twin.is_file():
        return [f"{label(lesson)} has no notebook"]
    try:
        written = json.loads(twin.read_text(encoding="utf-8"))
        cells, outputs = _cells(written), hash_outputs(written)
        then = dict(written["metadata"].get("stamp", {}))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return [f"{label(twin)} isn't a notebook: {type(error).__name__} {error}"]
    expected = read(lesson)
    faults = [] if cells == _cells(expected) else ["its cells are not the lesson's"]
    if then.pop(OUTPUTS, None) != outputs:
        faults.append("its outputs are not those that the lesson gave")
    now = expected.metadata["stamp"]
    changed = sorted(path for path in now | then if now.get(path) != then.get(path))
    if changed:
        faults.append(f"since it was executed, {', '.join(changed)} changed")
    return [f"{label(twin)} is stale: {fault}" for fault in faults]


def edited(lesson: Path) -> bool:
    """Say whether a lesson was edited since its notebook was written, by the notebook's stamp."""
    written = json.loads(lesson.with_suffix(".ipynb").read_text(encoding="utf-8"))
    then = written["metadata"].get("stamp", {}).get(label(lesson))
    return then != _hash(_read_text(lesson))


def _cells(notebook: dict) -> list[tuple]:
    """Return what a lesson and its notebook must agree on."""
    return [
        (cell["id"], cell["cell_type"], "".join(cell["source"]), dict(cell["metadata"]))
        for cell in notebook["cells"]
    ]


def check_all(names: list[str], root: Path = ROOT) -> list[str]:
    """Return what is stale in the notebooks, and which lessons lack one, or notebooks a lesson."""
    lessons = find(names, root)
    if not names:
        notebooks = {path.with_suffix(".py") for path in (root / "lessons").glob("*.ipynb")}
        lessons = sorted({*lessons, *notebooks})
    return [fault for lesson in lessons for fault in check(lesson)]


def label(path: Path) -> str:
    """Return the name of a lesson, or of another file, in messages."""
    return f"{path.parent.name}/{path.name}"
