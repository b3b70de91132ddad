"""The lessons and their notebooks, which are read; and the tool that writes them, on a toy."""

import ast
import json
import re
import shutil
from pathlib import Path

import fitness
import pytest
import twins

import lessons as tool

LESSONS = twins.find([])
TEMPLATE = [
    "Goal",
    "Idea",
    "By hand",
    "Math",
    "Code",
    "Picture",
    "Pitfalls",
    "Check yourself",
    "How this differs from the paper",
    "Summary",
]
WHOLE_TEMPLATE = ("01", "02", "03", "04")


@pytest.fixture(params=LESSONS, ids=lambda lesson: lesson.stem)
def lesson(request):
    return request.param


@pytest.fixture
def notebook(lesson):
    return json.loads(lesson.with_suffix(".ipynb").read_text(encoding="utf-8"))


@pytest.fixture
def code(notebook):
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [cell | {"source": "".join(cell["source"])} for cell in cells]


@pytest.fixture
def prose(notebook):
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    return ["".join(cell["source"]) for cell in cells]


def test_every_notebook_is_fresh_and_every_lesson_has_one():
    assert twins.check_all([]) == []


def test_lessons_follow_the_template(lesson, prose):
    headings = re.findall(r"^## (.+)$", "\n".join(prose), re.MULTILINE)
    sections = [heading.split(":")[0] for heading in headings]
    if lesson.stem.startswith(WHOLE_TEMPLATE):
        assert sections == TEMPLATE
    else:
        assert sections[0] == "Goal"
        assert sections[-1] == "Summary"


def test_a_lesson_starts_with_its_title_and_a_picture_beside_it(notebook):
    title, first = notebook["cells"][:2]
    assert title["source"][0].startswith("# ")
    assert any("image/svg+xml" in output.get("data", {}) for output in first["outputs"])


def test_every_code_cell_was_executed_in_order_without_an_error(code):
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]


def test_code_cells_are_short(code):
    for cell in code:
        lines = cell["source"].splitlines()
        assert len(lines) <= 12, cell["source"]
        assert max(map(len, lines)) <= 72, cell["source"]


def test_code_cells_import_from_the_package_and_define_no_class(code):
    for cell in code:
        nodes = list(ast.walk(ast.parse(cell["source"])))
        assert not [node for node in nodes if isinstance(node, ast.ClassDef)]


def test_every_picture_has_a_text_alternative_and_a_png(code):
    outputs = [output for cell in code for output in cell["outputs"] if "data" in output]
    pictures = [output for output in outputs if any("image/" in kind for kind in output["data"])]
    assert pictures
    for picture in pictures:
        assert {"image/svg+xml", "image/png"} <= set(picture["data"])
        for kind in ("image/svg+xml", "image/png"):
            assert picture["metadata"][kind]["alt"].strip()


def test_notebooks_hold_nothing_of_the_machine_or_the_moment(notebook):
    assert notebook["metadata"].keys() == {"jupytext", "kernelspec", "language_info", "stamp"}
    assert "version" not in notebook["metadata"]["language_info"]
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("image/png", None)  # random letters
    text = json.dumps(notebook)
    assert not re.search(r"iopub|ipykernel_\d|/(home|tmp|root|Users)/|\bat 0x[0-9a-f]", text)
    for cell in notebook["cells"]:
        assert cell["metadata"].keys() <= {"alt", "tags"}


def test_prose_renders_on_the_site_and_in_jupyter(prose):
    for cell in prose:
        assert not re.search(r"^(!!!|\?\?\?)", cell, re.MULTILINE), (
            "an admonition is noise in Jupyter"
        )
        assert not re.search(r"^#.*\$", cell, re.MULTILINE), "no formulas in headings"
        for formula in re.findall(r"\$\$.*?\$\$|\$[^$\n]+\$", cell, re.DOTALL):
            assert "<" not in formula, r"write \lt in formulas"
        for block in re.finditer(r"^\$\$\n.*?\n\$\$$", cell, re.DOTALL | re.MULTILINE):
            before, after = cell[: block.start()], cell[block.end() :]
            assert not before or before.endswith("\n\n"), "$$ in a paragraph of its own"
            assert not after or after.startswith("\n\n"), "$$ in a paragraph of its own"


def test_links_between_lessons_lead_to_lessons(prose):
    for target in re.findall(r"\]\(([\w-]+\.ipynb)", "\n".join(prose)):
        assert (twins.ROOT / "lessons" / target).is_file(), target


def test_check_needs_neither_torch_nor_mkdocs():
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module
        for path in (tool.__file__, twins.__file__, fitness.__file__)
        for node in ast.parse(Path(path).read_text(encoding="utf-8")).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    heavy = {"torch", "matplotlib", "capsnet_tutorial", "nbclient", "jupytext", "mkdocs"}
    assert imported.isdisjoint(heavy)


# The tool, on a repository with one small lesson.

TOY = """# %% [markdown]
# # Toy

# %%
from capsnet_tutorial import answer

answer()

# %%
print("recorded", "run")
"""


def make_toy(root):
    for folder in ("lessons", "capsnet_tutorial", "results"):
        (root / folder).mkdir()
    package = root / "capsnet_tutorial"
    (package / "__init__.py").write_text("from capsnet_tutorial.front import answer\n")
    (package / "front.py").write_text("from capsnet_tutorial.deep import answer\n")
    (package / "deep.py").write_text("def answer():\n    return 42\n")
    (package / "unused.py").write_text("")
    (root / "results/run.json").write_text("{}")
    (root / "lessons/01_toy.py").write_text(TOY)
    return root


@pytest.fixture
def toy(tmp_path):
    return make_toy(tmp_path)


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_stamp_names_what_the_outputs_depend_on(toy):
    assert list(twins.stamp(toy / "lessons/01_toy.py")) == [
        "capsnet_tutorial/__init__.py",
        "capsnet_tutorial/deep.py",
        "capsnet_tutorial/front.py",
        "lessons/01_toy.py",
        "results/run.json",
    ]


@pytest.mark.parametrize("module", ["capsnet_tutorial", "capsnet_tutorial.unused"])
def test_a_lesson_that_takes_all_names_depends_on_the_modules_that_may_give_them(toy, module):
    edit(toy / "lessons/01_toy.py", "# %%\nprint", f"# %%\nfrom {module} import *\n\nprint")
    assert "capsnet_tutorial/unused.py" in twins.stamp(toy / "lessons/01_toy.py")


@pytest.mark.parametrize("command", ["write", "check", "run"])
def test_unknown_lesson_is_named(toy, command, capsys):
    assert tool.main([command, "07"], toy) == 1
    assert "no lesson '07'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["write", "check", "run"])
def test_no_lesson_at_all_is_no_success(toy, command, capsys):
    (toy / "lessons/01_toy.py").unlink()
    assert tool.main([command], toy) == 1
    assert capsys.readouterr().err == "there is no lesson in lessons/\n"


@pytest.mark.slow
def test_writing_twice_gives_the_same_bytes_and_a_fresh_notebook(toy):
    twin = toy / "lessons/01_toy.ipynb"
    assert tool.main(["write"], toy) == 0
    first = twin.read_bytes()
    assert tool.main(["write", "01_toy"], toy) == 0
    assert twin.read_bytes() == first
    assert b'"42"' in first
    assert tool.main(["check"], toy) == 0
    assert {path.name for path in (toy / "lessons").iterdir()} == {"01_toy.py", "01_toy.ipynb"}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The toy with its notebook, executed once for all tests."""
    root = make_toy(tmp_path_factory.mktemp("written"))
    assert tool.main(["write"], root) == 0
    return root


@pytest.fixture
def fresh(written, tmp_path):
    return shutil.copytree(written, tmp_path / "copy")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("lessons/01_toy.py", '"recorded"', '"kept"', "its cells are not the lesson's"),
        (
            "lessons/01_toy.py",
            "# %%\nprint",
            '# %% alt="A"\nprint',
            "its cells are not the lesson's",
        ),
        ("capsnet_tutorial/deep.py", "42", "43", "capsnet_tutorial/deep.py changed"),
        ("results/run.json", "{}", "[]", "results/run.json changed"),
        (
            "capsnet_tutorial/__init__.py",
            "import answer",
            "import answer  #",
            "__init__.py changed",
        ),
        ("lessons/01_toy.ipynb", "{", "", "isn't a notebook"),
        ("lessons/01_toy.ipynb", '"cells"', '"cell"', "isn't a notebook: KeyError 'cells'"),
        ("lessons/01_toy.ipynb", '"42"', '"43"', "its outputs are not those that the lesson gave"),
        ("lessons/01_toy.ipynb", "recorded run\\n", "", "its outputs are not those"),
    ],
)
def test_check_names_what_is_stale_and_changes_nothing(fresh, file, old, new, said, capsys):
    edit(fresh / file, old, new)
    before = {path: path.read_bytes() for path in fresh.rglob("*.*") if path.is_file()}
    assert tool.main(["check"], fresh) == 1
    out = capsys.readouterr().out
    assert "lessons/01_toy.ipynb" in out
    assert said in out
    assert {path: path.read_bytes() for path in fresh.rglob("*.*") if path.is_file()} == before


@pytest.mark.slow
def test_a_module_that_the_lesson_does_not_import_leaves_it_fresh(fresh):
    (fresh / "capsnet_tutorial/unused.py").write_text("x = 1\n")
    assert tool.main(["check"], fresh) == 0


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["01_toy.py", "01_toy.ipynb"])
def test_check_names_a_lesson_without_notebook_and_the_reverse(fresh, missing, capsys):
    shutil.copy(fresh / "lessons/01_toy.py", fresh / "lessons/02_other.py")
    (fresh / "lessons" / missing).unlink()
    assert tool.main(["check"], fresh) == 1
    assert "lessons/01_toy" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1 / 0", "failed: ZeroDivisionError: division by zero"),
        ("import sys; print('oh', file=sys.stderr)", "wrote to stderr: oh"),
        ("object()", "which differs from run to run"),
        ("import os; os._exit(1)", "Kernel died"),
        # What no page can show; tests/test_site.py has more of it.
        ("from IPython.display import HTML; HTML('<script>1</script>')", "a script in it"),
        ("print('\\x1b[31mred')", "terminal colours"),
        ("# %% [markdown]\n# </div>", "whose HTML tags don't match"),
    ],
)
@pytest.mark.parametrize("command", ["write", "run"])
def test_a_faulty_cell_is_named_and_the_notebook_stays(fresh, line, said, command, capsys):
    twin = fresh / "lessons/01_toy.ipynb"
    before = twin.read_bytes()
    edit(fresh / "lessons/01_toy.py", 'print("recorded", "run")', line)
    assert tool.main([command], fresh) == 1
    error = capsys.readouterr().err
    assert re.match(r"lessons/01_toy.py, cell [23]\b", error)
    assert said in error
    assert twin.read_bytes() == before
    assert len(list((fresh / "lessons").iterdir())) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "seen"), [([], ["", "", "1"]), (["--gpu"], ["/digits", "0", "1"])]
)
def test_lessons_run_alike_everywhere_unless_a_gpu_is_asked_for(fresh, monkeypatch, flags, seen):
    monkeypatch.setenv("CAPSNET_DATA", "/digits")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    names = ("CAPSNET_DATA", "CUDA_VISIBLE_DEVICES", "TQDM_DISABLE")
    line = f"import os; assert [os.environ[name] for name in {names}] == {seen}"
    edit(fresh / "lessons/01_toy.py", 'print("recorded", "run")', line)
    assert tool.main(["run", *flags], fresh) == 0


@pytest.mark.parametrize("file", ["lessons/01_toy.py", "capsnet_tutorial/deep.py"])
@pytest.mark.parametrize("command", ["write", "check", "run"])
def test_a_file_that_is_not_python_is_named(toy, file, command, capsys):
    (toy / "lessons/01_toy.ipynb").write_text('{"cells": [], "metadata": {}}')
    (toy / file).write_text((toy / file).read_text() + "\n1 +\n")
    assert tool.main([command], toy) == 1
    said = capsys.readouterr().err
    assert f"{file}, line " in said
    assert "isn't valid Python" in said


@pytest.mark.parametrize("command", ["write", "check", "run"])
@pytest.mark.parametrize("file", ["lessons/01_toy.py", "capsnet_tutorial/deep.py"])
def test_a_file_that_is_not_utf8_is_named(toy, file, command, capsys):
    (toy / "lessons/01_toy.ipynb").write_text('{"cells": [], "metadata": {}}')
    (toy / file).write_bytes((toy / file).read_bytes() + "# é\n".encode("latin-1"))
    assert tool.main([command], toy) == 1
    assert capsys.readouterr().err == f"{file} isn't UTF-8: save it in that encoding\n"


@pytest.mark.parametrize("command", ["write", "check", "run"])
def test_a_module_that_is_not_there_is_named(toy, command, capsys):
    (toy / "lessons/01_toy.ipynb").write_text('{"cells": [], "metadata": {}}')
    edit(toy / "lessons/01_toy.py", "capsnet_tutorial import", "capsnet_tutorial.nowhere import")
    assert tool.main([command], toy) == 1
    said = "lessons/01_toy.py imports capsnet_tutorial/nowhere.py, which isn't there\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("folder", ["notes", "notes/mine/deep"])
def test_copying_onto_a_file_or_below_it_is_refused(toy, tmp_path, folder, capsys):
    (tmp_path / "notes").write_text("mine")
    assert tool.main(["copy", str(tmp_path / folder)], toy) == 1
    said = f"{tmp_path / 'notes'} is a file: name a folder to copy the lessons to\n"
    assert capsys.readouterr().err == said
    assert (tmp_path / "notes").read_text() == "mine"


@pytest.mark.slow
def test_copy_keeps_what_the_reader_changed(fresh, capsys):
    playground = fresh / "playground"
    assert tool.main(["copy", str(playground)], fresh) == 0
    mine = playground / "01_toy.ipynb"
    assert mine.read_bytes() == (fresh / "lessons/01_toy.ipynb").read_bytes()
    mine.write_text("mine")
    capsys.readouterr()
    assert tool.main(["copy", str(playground)], fresh) == 0
    assert mine.read_text() == "mine"
    assert "kept, it differs" in capsys.readouterr().out
