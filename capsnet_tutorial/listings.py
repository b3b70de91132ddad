"""Show a function's code in a lesson: the package's own lines, read from its file."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


def show_code(function: Callable[..., Any]) -> None:
    """Print a function without its docstring and its types, which take more room than the code.

    Args:
        function: a function of this package.

    >>> from capsnet_tutorial import squash
    >>> show_code(squash)
    def squash(s, dim=-1):
        wide = at_least_float32(s)
        norm = torch.linalg.vector_norm(wide, dim=dim, keepdim=True)
        return (wide * (norm / (1 + norm**2))).to(s.dtype)
    """
    source = textwrap.dedent(inspect.getsource(function))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    for node in ast.walk(definition.args):
        if isinstance(node, ast.arg):
            node.annotation = None
    first = definition.body[0]
    # Comments above the first line of code belong to it.
    start = first.end_lineno if ast.get_docstring(definition) else first.lineno - 1
    print(f"def {definition.name}({ast.unparse(definition.args)}):")
    print("\n".join(source.splitlines()[start:]))
