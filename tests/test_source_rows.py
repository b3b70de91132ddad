"""Source read as rows: which note speaks of which lines, and that no line of code is lost."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import capsnet_tutorial
from capsnet_tutorial.source_rows import read_rows

PACKAGE = Path(capsnet_tutorial.__file__).parent
MODULES = sorted(PACKAGE.glob("*.py"))
each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)

SOURCE = '''"""About halves.

And more.
"""

import math

HALF = 0.5
"""What everything is multiplied by."""


class Halver:
    """Halve things.

    Args:
        x: it.

            indented on

    Nothing is rounded.

    >>> Halver()
    Halver()

    Source: nobody.
    """

    kind = "halver"

    @staticmethod
    def halve(x):
        # Product: one number,
        # and another.
        if x:
            # noqa
            y = (
                x  # type: ignore
                # inside
            )
            # Deep: only here.
            y *= HALF
        return y


def plain():
    s = """# no comment
"""
    # see: https://example.org is no name of four words or more: so
    a = s

    return a
'''


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "halves.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def shown(rows):
    return [
        (row.name, row.depth, row.note, [line.strip() for line in row.code.values()])
        for row in rows
    ]


def test_a_module_is_dealt_out_to_its_notes(path):
    assert shown(read_rows(path)) == [
        ("", 0, "About halves.\n\nAnd more.", ["import math"]),
        ("HALF", 0, "What everything is multiplied by.", ["HALF = 0.5"]),
        ("Halver", 1, "Halve things.\n\nNothing is rounded.", ["class Halver:", 'kind = "halver"']),
        ("Halver.halve", 2, "", ["@staticmethod", "def halve(x):"]),
        (
            "Halver.halve.product",
            0,
            "**Product:** one number,\nand another.",
            ["if x:", "# noqa", "y = (", "x  # type: ignore"],
        ),
        ("", 0, "inside", [")"]),
        ("Halver.halve.deep", 0, "**Deep:** only here.", ["y *= HALF"]),
        ("", 0, "", ["return y"]),
        ("plain", 1, "", ["def plain():", 's = """# no comment', '"""']),
        (
            "plain.see",
            0,
            "**see:** https://example.org is no name of four words or more: so",
            ["a = s"],
        ),
        ("", 0, "", ["return a"]),
    ]


def test_one_definition_has_the_rows_that_it_has_in_its_module(path):
    whole = read_rows(path)
    assert read_rows(path, "Halver.halve") == whole[3:8]
    assert read_rows(path, "Halver") == whole[2:8]
    with pytest.raises(ValueError, match=r"halves.py defines no Halver.double"):
        read_rows(path, "Halver.double")


def test_of_definitions_of_one_name_the_last_counts_as_in_python(tmp_path):
    path = tmp_path / "twice.py"
    path.write_text("def one():\n    return 1\n\n\ndef one():\n    return 2\n", encoding="utf-8")
    assert [row.code for row in read_rows(path, "one")] == [{5: "def one():", 6: "    return 2"}]


@each_module
def test_every_line_stands_in_one_row_or_is_a_note(path):
    source = path.read_text(encoding="utf-8")
    numbers = [number for row in read_rows(path) for number in row.code]
    assert numbers == sorted(set(numbers))
    lines = enumerate(source.splitlines(), 1)
    # What is left out is comments and texts, and no code.
    left_out = "\n".join(line.strip() for number, line in lines if number not in numbers)
    assert all(is_text(node) for node in ast.parse(left_out).body)


def is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@pytest.mark.parametrize("constant", ["HALF = 0.5", "HALF: float = 0.5"])
def test_a_constant_has_its_note(constant, tmp_path):
    path = tmp_path / "halves.py"
    path.write_text(f'{constant}\n"""What everything is multiplied by."""\n', encoding="utf-8")
    [row] = read_rows(path)
    assert row.note == "What everything is multiplied by."
    assert (row.name, list(row.code.values())) == ("HALF", [constant])


@each_module
def test_names_of_rows_are_unique(path):
    names = [row.name for row in read_rows(path) if row.name]
    assert len(names) == len(set(names))


def test_reading_rows_needs_no_package():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import source_rows; from pathlib import Path;"
        "rows = source_rows.read_rows(Path(sys.argv[1], 'routing.py'), '_route');"
        "print([row.name for row in rows])"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(PACKAGE)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "_route.agreement" in run.stdout
