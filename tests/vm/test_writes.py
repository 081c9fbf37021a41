"""Random writes to io.htbs and every tunable: no warning, and a refused write changes no state."""

import re

import pytest

from tests.vm import Result, writes
from tests.vm.functional import SERIES

pytestmark = pytest.mark.guest

SEED, COUNT = 1, 20_000
GUEST = writes.boot(SEED, COUNT)


def test_random_writes(result: Result, series: str) -> None:
    """Each does what the ABI pages say; `make fuzz-writes` does a million, a debug kernel few."""
    done, accepted = map(int, re.search(r"(\d+) writes, (\d+) accepted", result.stdout).groups())
    if series in SERIES:
        assert done == COUNT
    assert done // 10 < accepted < done // 2
