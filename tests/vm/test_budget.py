"""Drivers without a budget: blk-mq takes a request even if all tags are in use. Virtual time."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot, fio_side, htbs_stat

pytestmark = pytest.mark.guest

GUEST = Boot("budget")
RESERVED = {"random": 200 << 10, "stream": 800 << 10}


def _bw(result: Result, run: str, group: str) -> int:
    return fio_side(result, f"{run}-{group}")["bw_bytes"]


@pytest.mark.parametrize("run", ["one", "budget", "many"])
def test_reservations_are_kept(result: Result, run: str) -> None:
    """With any driver bandwidth is kept, and latency, except for one request at the beginning."""
    for group, bw in RESERVED.items():
        stat = htbs_stat(result.text(f"{run}-{group}.stat"))
        assert _bw(result, run, group) >= 0.98 * bw
        assert stat["conforming"] > 50
        assert stat["missed"] <= 1


@pytest.mark.parametrize("run", ["one", "many"])
def test_nothing_is_lost_without_a_budget(result: Result, run: str) -> None:
    """A request that blk-mq took too early would end each run of the sequential reader."""
    own, other = (sum(_bw(result, each, group) for group in RESERVED) for each in (run, "budget"))
    assert own >= 0.9 * other
