"""The mistakes can still be made, and some are made; `make test-mutants` makes all."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants import run

ALL = run.mutants()
# Of those that need no guest, the first ones: the kinds that are feared most.
MADE = [mutant for mutant in ALL if not mutant.needs_guest][:4]


@pytest.fixture(scope="module")
def tree() -> Path:
    """A copy of this one."""
    return run.copy_tree()


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_applies(tree: Path, mutant: run.Mutant) -> None:
    """A mistake that the code has outgrown is seen at once."""
    path, mistaken = mutant.find(tree)
    assert mistaken != path.read_text()


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
    assert f" of {len(ALL)} deliberate mistakes," in (run.ROOT / "docs/testing.md").read_text()


@pytest.mark.parametrize("mutant", MADE, ids=lambda mutant: mutant.name)
def test_caught(tree: Path, mutant: run.Mutant) -> None:
    run.check_caught(tree, mutant)
