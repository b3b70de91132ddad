"""`annotate`: which definitions it finds, and the table that Jupyter shows."""

import functools
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup

from capsnet_tutorial import CapsNetConfig, DigitCaps, evaluate, routing, squash
from capsnet_tutorial.annotations import AnnotatedSource, annotate, note_html
from capsnet_tutorial.source_rows import Row


@pytest.mark.parametrize(
    ("obj", "module", "name"),
    [
        (squash, "squashing", "squash"),
        (DigitCaps, "layers", "DigitCaps"),
        (DigitCaps.predict, "layers", "DigitCaps.predict"),
        (CapsNetConfig.small, "config", "CapsNetConfig.small"),
        (evaluate, "evaluation", "evaluate"),  # it has a decorator
        (routing, "routing", ""),
    ],
)
def test_functions_methods_classes_and_modules_are_found(obj, module, name):
    source = annotate(obj)
    assert source[:2] == (module, name)
    assert source.rows


@pytest.mark.parametrize("obj", [torch.relu, torch, len, 3, functools.partial(squash), "squash"])
def test_anything_else_is_refused_in_a_sentence(obj):
    with pytest.raises(TypeError, match="annotate shows functions, classes and modules"):
        annotate(obj)


def test_the_table_holds_notes_numbers_and_code():
    source = annotate(routing._route)
    table = BeautifulSoup(source._repr_html_(), "html.parser").table
    cells = [row.find_all("td") for row in table.find_all("tr")[1:]]
    assert len(cells) == len(source.rows)
    lines = Path(routing.__file__).read_text(encoding="utf-8").splitlines()
    for (note, numbers, code), row in zip(cells, source.rows, strict=True):
        numbers = [int(number) for number in numbers.get_text().split()]
        assert [lines[n - 1] for n in numbers] == code.get_text().splitlines()
        assert bool(note.get_text()) == bool(row.note)
    agreement = next(note for note, _, _ in cells if "Agreement" in note.get_text())
    assert agreement.b.get_text() == "Agreement:"


def test_the_table_needs_neither_style_sheet_nor_script():
    table = BeautifulSoup(annotate(squash)._repr_html_(), "html.parser")
    assert {tag.name for tag in table.find_all()} <= {
        "table",
        "tr",
        "th",
        "td",
        "pre",
        "p",
        "b",
        "code",
    }


def test_code_and_notes_are_text_in_the_table():
    row = Row("less", 1, "If a < b & c, <i>stop</i>.", {7: "if a < b & c:", 8: '    "</pre>&lt;"'})
    table = BeautifulSoup(
        AnnotatedSource("signs", "less", [row])._repr_html_(), "html.parser"
    ).table
    assert table.attrs == {"data-module": "signs", "data-name": "less"}
    assert [head.get_text() for head in table.find_all("th")] == ["notes", "line", "signs.py"]
    cells = [cell.get_text() for cell in table.find_all("td")]
    assert cells == [row.note, "7\n8", 'if a < b & c:\n    "</pre>&lt;"']


def test_notes_are_text_and_formulas_stay():
    assert note_html(r"If $a < b$.") == "<p>If $a &lt; b$.</p>"
    assert note_html("") == ""
