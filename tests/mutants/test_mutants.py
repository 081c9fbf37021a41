"""The mistakes can still be made, and some are made; `make test-mutants` makes all."""

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
    """A patch that the code has outgrown is seen at once."""
    mutant.apply(tree, "--dry-run")


def test_all_name_a_test(tree: Path) -> None:
    for group in run.by_kernels(ALL):
        done = run.run_tests(tree, group, "--collect-only")
        assert done.returncode == run.PASSED, done.stdout


def test_chosen_by_number() -> None:
    assert run.chosen(["2", "01"]) == [ALL[1], ALL[0]]
    assert run.chosen([]) == ALL


@pytest.mark.parametrize("number", ["0", str(len(ALL) + 1), "x", "-1"])
def test_no_such_number(number: str) -> None:
    with pytest.raises(run.MutantError, match=f"no mistake '{number}'; they go from 1 to "):
        run.chosen(["1", number])


def test_readme_counts_them() -> None:
    assert f" of {len(ALL)} deliberate mistakes," in (run.ROOT / "README.md").read_text()


@pytest.mark.parametrize("mutant", MADE, ids=lambda mutant: mutant.name)
def test_caught(tree: Path, mutant: run.Mutant) -> None:
    run.check_caught(tree, mutant)
