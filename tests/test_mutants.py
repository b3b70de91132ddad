"""Faults of public capsule networks, put into a copy of the package: a test must fail for each."""

import multiprocessing
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import apart
import pytest

import capsnet_tutorial

PACKAGE = Path(capsnet_tutorial.__file__).parent
TESTS = Path(__file__).parent


class Mutant(NamedTuple):
    module: str
    tests: str  # the file that must notice
    right: str  # a part of exactly one line of the module
    wrong: str


MUTANTS = {
    # Many implementations leave out the axis, or normalise over the children: then a child may
    # give all of itself to every parent, and routing routes nothing.
    "softmax over the children": Mutant(
        "routing", "routing", "b_ij.softmax(dim=2)", "b_ij.softmax(dim=1)"
    ),
    # The norm is taken of each number instead of each vector, where an axis was forgotten.
    "squash per component": Mutant(
        "squashing",
        "squashing",
        "norm = torch.linalg.vector_norm(wide, dim=dim, keepdim=True)",
        "norm = wide.abs()",
    ),
    # Logits without a batch axis: a mean over the batch makes every image depend on the others.
    "agreement averaged over the batch": Mutant(
        "routing",
        "routing",
        '"bjm,bijm->bij", v_j, u)',
        '"bjm,bijm->bij", v_j, u).mean(dim=0, keepdim=True)',
    ),
    # Agreement is measured with the squashed output; the total input grows with the children.
    "agreement with the total input": Mutant(
        "routing", "routing", '"bjm,bijm->bij", v_j, u)', '"bjm,bijm->bij", s_j, u)'
    ),
    # Loops that route once with even couplings and then run r times more.
    "one iteration more": Mutant(
        "routing",
        "routing",
        "_route(at_least_float32(u_hat), num_iterations, stop_gradient)",
        "_route(at_least_float32(u_hat), num_iterations + 1, stop_gradient)",
    ),
    # The hinge loss of other networks has no squares; Equation 4 has.
    "no square in the margin loss": Mutant(
        "margin", "margin", "(m_plus - length).clamp(min=0) ** 2", "(m_plus - length).clamp(min=0)"
    ),
    # Arguments passed in the other order: present classes may stay at 0.1.
    "margins swapped": Mutant(
        "margin",
        "margin",
        "length = lengths(at_least_float32(v_j))",
        "length, m_plus, m_minus = lengths(at_least_float32(v_j)), m_minus, m_plus",
    ),
    # The most common one: the shape is right, and each capsule is eight neighbouring pixels.
    "a bare view in the primary capsules": Mutant(
        "layers",
        "layers",
        'rearrange(channels, "b (t n) y x -> b (t y x) n", t=self.types)',
        "channels.reshape(len(channels), -1, channels.shape[1] // self.types)",
    ),
    # MSELoss averages over pixels and makes the weight 0.0005 a weight of nearly nothing.
    "a mean for the sum over pixels": Mutant(
        "reconstruction",
        "reconstruction",
        "error.square().flatten(1).sum(dim=1).mean()",
        "error.square().mean()",
    ),
}


def copy_package(folder):
    """Copy the package and the tests of its mathematics into a project of its own."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests").mkdir()
    for name in {mutant.tests for mutant in MUTANTS.values()}:
        shutil.copy(TESTS / f"test_{name}.py", folder / "tests")
    # Proof that the copy is judged, and not the package that is installed.
    (folder / "tests" / "test_copy.py").write_text(
        "import capsnet_tutorial\n\n"
        "def test_the_copy_is_imported():\n"
        f"    assert capsnet_tutorial.__file__.startswith({str(folder)!r})\n"
    )


def run_tests(folder, *names):
    """Run the copied tests on the copied package, without the run-time shape checks."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    files = [f"tests/test_{name}.py" for name in names]
    words = ["-q", "-x", "-m", "not slow", "--tb=short", "-p", "no:xdist", *files]
    # Each in a process of its own, in which PyTorch is loaded already where there is a fork server.
    start = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(start)
    context.set_forkserver_preload(["torch", "hypothesis", "pytest", "beartype"])
    process = context.Process(target=apart.run_pytest, args=(folder, words))
    process.start()
    process.join(timeout=120)
    return process.exitcode, (folder / apart.OUTPUT).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_known_fault_makes_a_test_fail(name, tmp_path):
    copy_package(tmp_path)
    mutant = MUTANTS[name]
    path = tmp_path / PACKAGE.name / f"{mutant.module}.py"
    source = path.read_text(encoding="utf-8")
    assert source.count(mutant.right) == 1, "the line to change is gone or no longer unique"
    path.write_text(source.replace(mutant.right, mutant.wrong), encoding="utf-8")
    code, said = run_tests(tmp_path, "copy", mutant.tests)
    # 1 means that tests ran and failed; a broken import or an empty run has another number. The
    # first test, that the copy is imported, must have passed, and the second judged a value.
    assert code == 1, said
    assert f"FAILED tests/test_{mutant.tests}.py::" in said, said
    assert re.search(r"^E +(assert |AssertionError)", said, re.MULTILINE), said


@pytest.mark.slow
def test_the_same_tests_pass_on_a_copy_without_fault(tmp_path):
    copy_package(tmp_path)
    code, said = run_tests(tmp_path, "copy", *sorted({mutant.tests for mutant in MUTANTS.values()}))
    assert code == 0, said
