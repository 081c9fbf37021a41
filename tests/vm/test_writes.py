"""Random writes to io.htbs and every tunable: no warning, no state changed by a refused one."""

import re

import pytest

from tests.vm import Result, debug, writes

pytestmark = pytest.mark.guest

SEED, COUNT = 1, 20_000
GUEST = writes.boot(SEED, COUNT)


def test_random_writes(result: Result, series: str) -> None:
    """Each does what the ABI pages say; `make fuzz-writes` does a million, a debug kernel few."""
    count = COUNT // 10 if series in debug.CONFIGS else COUNT
    done, accepted = map(int, re.search(r"(\d+) writes, (\d+) accepted", result.stdout).groups())
    assert done == count
    assert count // 10 < accepted < count // 2
