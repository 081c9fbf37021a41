"""The mistakes can still be made, and some are made; `make test-mutants` makes all."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants import run
from tests.unit.host import FLAGS, TOOLS

ALL = run.mutants()
# The first ones that need no guest; these are the most dangerous kinds.
MADE = [mutant for mutant in ALL if not mutant.needs_guest][:4]
# Mistakes in the core's source files, which tests build by themselves.
IN_CORE = [mutant for mutant in ALL if "htbs/core" in str(mutant.find(run.ROOT)[0].parent)
           and mutant.find(run.ROOT)[0].suffix == ".c"]


@pytest.fixture(scope="module")
def tree() -> Path:
    """Return a copy of this tree."""
    return run.copy_tree()


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_applies(tree: Path, mutant: run.Mutant) -> None:
    """A mistake that no longer fits the code is found at once."""
    path, mistaken = mutant.find(tree)
    assert mistaken != path.read_text()


@pytest.mark.parametrize("mutant", IN_CORE, ids=lambda mutant: mutant.name)
def test_builds(mutant: run.Mutant, tmp_path: Path) -> None:
    """If the core did not compile, its test would fail for another reason than the mistake."""
    path, mistaken = mutant.find(run.ROOT)
    source = tmp_path / path.name
    source.write_text(mistaken)
    include = (run.ROOT / "tests/unit/include", TOOLS / "include", run.ROOT / "include")
    subprocess.run(["gcc", *FLAGS, *(f"-I{each}" for each in include), "-fsyntax-only", source],
                   check=True)


def test_all_name_a_test(tree: Path) -> None:
    for group in run.by_kernels(ALL):
        done = run.run_tests(tree, group, "--collect-only")
        assert done.returncode == run.PASSED, done.stdout


@pytest.mark.parametrize(("change", "error"), [
    ({"old": "policy->no_such_field"}, "has this 0 times"),
    ({"old": "policy"}, r"has this (?!1 )\d+ times"),
    ({"function": "htbs_no_such_function"}, "is defined 0 times"),
])
def test_a_mistake_that_the_code_has_outgrown(tree: Path, change: dict, error: str) -> None:
    with pytest.raises(run.MutantError, match=error):
        replace(ALL[0], **change).find(tree)


def test_document_counts_them() -> None:
    text = (run.ROOT / "docs/testing.md").read_text()
    assert f" of {len(ALL)} deliberate mistakes," in text
    assert f" `make test` makes {len(MADE)} of them," in text


@pytest.mark.parametrize("mutant", MADE, ids=lambda mutant: mutant.name)
def test_caught(tree: Path, mutant: run.Mutant) -> None:
    run.check_caught(tree, mutant)
