"""Random writes to io.htbs and every tunable: no warning, no state changed by a refused one."""

import re

import pytest

from tests.vm import Result, writes

pytestmark = pytest.mark.guest

SEED, COUNT = 1, 20_000
GUEST = writes.boot(SEED, COUNT)


def test_random_writes(result: Result) -> None:
    """Each does what the ABI pages say; `make fuzz-writes` does a million."""
    done, accepted = map(int, re.search(r"(\d+) writes, (\d+) accepted", result.stdout).groups())
    assert done == COUNT
    assert COUNT // 10 < accepted < COUNT // 2
