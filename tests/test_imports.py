"""Who may import whom, so that each module can be read with the few before it."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import capsnet_tutorial

PACKAGE = Path(capsnet_tutorial.__file__).parent
PROJECT = Path(__file__).parent.parent
MODULES = sorted(path.stem for path in PACKAGE.glob("*.py"))

LAYERS = {
    "squashing",
    "routing_gradient",
    "routing",
    "margin",
    "reconstruction",
    "layers",
    "config",
    "capsnet",
}
LAYERS |= {"evaluation", "processes", "training_state", "training"}
MAY_IMPORT = {
    "squashing": set(),
    "reference": set(),
    "routing_gradient": {"squashing"},
    "routing": {"routing_gradient", "squashing"},
    "margin": {"squashing"},
    "reconstruction": {"squashing"},
    "layers": {"routing", "squashing"},
    "config": {"layers"},
    "capsnet": {"config", "layers", "margin", "reconstruction", "routing", "squashing"},
    "data": set(),
    "augmentation": set(),
    "devices": set(),
    "history": set(),
    "processes": {"data"},
    "checkpoints": {"capsnet", "config"},
    "evaluation": {"capsnet", "data", "devices"},
    "training_state": {"augmentation", "capsnet", "checkpoints", "history"},
    "training": {
        *("augmentation", "capsnet", "data", "devices"),
        *("evaluation", "history", "processes", "training_state"),
    },
    "intervals": set(),
    "recipes": {"config", "data", "devices", "history", "intervals", "records"},
    "source_rows": set(),
    "annotations": {"source_rows"},
}


def imported(module):
    """Return all that a module imports, anywhere in it, as dotted names."""
    names = set()
    for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            # `from package import module` names a module after the word import.
            plain = node.module == "capsnet_tutorial"
            names |= {f"{node.module}.{a.name}" if plain else node.module for a in node.names}
    return names


def siblings(module):
    """Return the names of the package's own modules that a module imports."""
    inside = {name for name in imported(module) if name.startswith("capsnet_tutorial")}
    assert "capsnet_tutorial" not in inside, f"{module} imports the package as a whole"
    return {name.split(".")[1] for name in inside}


def outsiders(module):
    """Return the packages outside the standard library that a module imports."""
    packages = {name.split(".")[0] for name in imported(module)}
    return packages - {"capsnet_tutorial"} - set(sys.stdlib_module_names)


@pytest.mark.parametrize("module", MAY_IMPORT)
def test_a_module_imports_only_the_ones_it_builds_on(module):
    assert siblings(module) <= MAY_IMPORT[module]


@pytest.mark.parametrize("module", sorted(set(MODULES) - {"__init__"}))
def test_a_module_names_other_modules_of_the_package_only(module):
    assert siblings(module) <= set(MODULES)


def test_squashing_needs_torch_and_the_oracle_needs_nothing():
    assert outsiders("squashing") == {"torch", "jaxtyping"}
    assert outsiders("reference") == set()


def test_the_site_reads_rows_without_any_package():
    assert outsiders("source_rows") == outsiders("annotations") == set()


def test_training_stands_on_the_network_and_the_data():
    assert {"capsnet", "data"} < siblings("training") <= MAY_IMPORT["training"]


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("plotting")])
def test_pictures_are_drawn_from_numbers_and_know_no_layer(module):
    assert not siblings(module) & LAYERS


@pytest.mark.parametrize("module", MODULES)
def test_the_package_imports_nothing_but_what_it_is_installed_with(module):
    # This keeps out lessons, docs, tests and tools, and every tool that builds or tests them.
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}
    installed = installed - {"pillow"} | {"PIL"}  # the one package that is imported by another name
    assert outsiders(module) <= installed
