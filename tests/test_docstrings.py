"""What a docstring of the package says: each parameter, and what comes back."""

import ast
from pathlib import Path

import pytest

import capsnet_tutorial

PACKAGE = Path(capsnet_tutorial.__file__).parent
MODULES = ("data", "layers", "processes", "training_state")
MODULES += tuple(path.stem for path in PACKAGE.glob("mistakes_*.py"))


def public(node, prefix=""):
    """Yield the public functions and methods of a module or a class, with their names."""
    for child in node.body:
        if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
            yield from public(child, f"{child.name}.")
        elif isinstance(child, ast.FunctionDef) and not child.name.startswith("_"):
            yield prefix + child.name, child


FUNCTIONS = {
    f"{module}.{name}": function
    for module in MODULES
    for name, function in public(ast.parse((PACKAGE / f"{module}.py").read_text("utf-8")))
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_tells_each_parameter_and_what_comes_back(name):
    function = FUNCTIONS[name]
    docstring = ast.get_docstring(function)
    given = [*function.args.args, *function.args.kwonlyargs]
    names = {parameter.arg for parameter in given} - {"self", "cls"}
    for parameter in names:
        assert f"\n    {parameter}: " in docstring, parameter
    comes_back = function.returns is not None and ast.unparse(function.returns) != "None"
    if comes_back and names:
        assert "\nReturns:" in docstring or "\nYields:" in docstring
