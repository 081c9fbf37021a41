"""Each mechanism and constant is in the code, and the differences without it are printed."""

import re
import subprocess

import pytest

from tests.mutants.run import ROOT, Mutant
from tests.sim import ablation, sensitivity
from tests.sim.ablation import differences, entries
from tests.sim.sensitivity import Trial, constants
from tests.unit.host import FLAGS, TOOLS


@pytest.mark.parametrize("mechanism", entries(), ids=lambda mechanism: mechanism.name)
def test_applies(mechanism: Mutant):
    """A change that no longer fits the code is found at once."""
    path, changed = mechanism.find(ROOT)
    assert changed != path.read_text()


@pytest.mark.parametrize("mechanism", entries(), ids=lambda mechanism: mechanism.name)
def test_compiles(mechanism: Mutant, tmp_path):
    """The changed file compiles with warnings as errors, as in the build of the simulation."""
    path, changed = mechanism.find(ROOT)
    source = tmp_path / path.name
    source.write_text(changed)
    include = (ROOT / "tests/unit/include", TOOLS / "include", ROOT / "include")
    flags = [flag for flag in FLAGS if flag != "-shared"]
    subprocess.run(["gcc", *flags, "-x", "c", "-fsyntax-only", *(f"-I{each}" for each in include),
                    str(source)], check=True)


@pytest.mark.parametrize("name", constants())
def test_constant_is_defined_once(name: str):
    """The constant gets the other value, and no other line changes."""
    for value in constants()[name]:
        path, was, text = Trial(name, value).find(ROOT)
        before, after = (set(each.splitlines()) for each in (path.read_text(), text))
        [old], [new] = before - after, after - before
        assert value not in (was, was.strip("()"))
        assert new == old.replace(was, f"({value})")


def rows(page: str, head: str) -> list[list[str]]:
    """Return the cells of a page's table, except the differences."""
    text = (ROOT / "docs" / page).read_text()
    assert text.startswith(head), "the command that it names makes it"
    lines = text.removeprefix(head).strip().splitlines()
    return [re.split(r" ?\| ?", line)[1:-2] for line in lines]


def test_each_mechanism_was_measured():
    assert rows("ablation.md", ablation.head()) == [[each.name, each.what] for each in entries()]


def test_each_constant_was_measured_as_it_is():
    trials = [Trial(name, value) for name, values in constants().items() for value in values]
    assert rows("sensitivity.md", sensitivity.head()) == [
        [f"`{each.name}`", each.find(ROOT)[1], each.value] for each in trials]


def test_differences():
    base = {"one": [100.0, 50, 1000, 1.2, 2.0], "other": [10.0, 0, 1000, -1, 0]}
    assert differences(base, base) == []
    chance = {"one": [101.0, 55, 1000, 1.0, 2.9], "other": [9.9, 3, 1000, -1, 0]}
    assert differences(base, chance) == []
    worse = {"one": [90.0, 56, 2000, 0.9, 3.1], "other": [10.0, 4, 1000, -1, 0]}
    assert differences(base, worse) == [
        "*one*: 90 instead of 100 MB/s, 56 instead of 50 of 2,000 late, 0.90 instead of 1.20 kept, "
        "longest wait 3.10 instead of 2.00 s",
        "*other*: 4 instead of 0 of 1,000 late"]
    assert differences(base, {**base, "one": []}) == [
        "*one*: the requests of a client pile up"]
