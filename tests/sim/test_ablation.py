"""Each mechanism of ablation.toml is in the code, and what differs without it is told."""

import pytest

from tests.mutants.run import ROOT, Mutant
from tests.sim.ablation import differences, entries


@pytest.mark.parametrize("mechanism", entries(), ids=lambda mechanism: mechanism.name)
def test_applies(mechanism: Mutant):
    """A change that the code has outgrown is seen at once."""
    path, changed = mechanism.find(ROOT)
    assert changed != path.read_text()


def test_differences():
    base = {"one": [100.0, 50, 1000, 1.2], "other": [10.0, 0, 1000, -1]}
    assert differences(base, base) == []
    chance = {"one": [101.0, 55, 1000, 1.0], "other": [9.9, 3, 1000, -1]}
    assert differences(base, chance) == []
    worse = {"one": [90.0, 56, 2000, 0.9], "other": [10.0, 4, 1000, -1]}
    assert differences(base, worse) == [
        "*one*: 90 instead of 100 MB/s, 56 instead of 50 of 2,000 late, 0.90 instead of 1.20 kept",
        "*other*: 4 instead of 0 of 1,000 late"]
    assert differences(base, {**base, "one": []}) == [
        "*one*: the requests of a client pile up"]
