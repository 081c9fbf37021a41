"""Each mechanism and constant is in the code, and what differs without it is told."""

import pytest

from tests.mutants.run import ROOT, Mutant
from tests.sim.ablation import differences, entries
from tests.sim.sensitivity import Trial, constants


@pytest.mark.parametrize("mechanism", entries(), ids=lambda mechanism: mechanism.name)
def test_applies(mechanism: Mutant):
    """A change that the code has outgrown is seen at once."""
    path, changed = mechanism.find(ROOT)
    assert changed != path.read_text()


@pytest.mark.parametrize("name", constants())
def test_constant_is_defined_once(name: str):
    """It gets the other value, and no other line changes."""
    for value in constants()[name]:
        path, was, text = Trial(name, value).find(ROOT)
        before, after = (set(each.splitlines()) for each in (path.read_text(), text))
        [old], [new] = before - after, after - before
        assert value not in (was, was.strip("()"))
        assert new == old.replace(was, f"({value})")


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
