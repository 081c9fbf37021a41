"""A cap is kept, costs other groups nothing, and throttles no others. In virtual time."""

import re

import pytest

from tests.vm import Result
from tests.vm.functional import Boot, fio_side

pytestmark = pytest.mark.guest

GUEST = Boot("cap")


def _iops(result: Result, run: str, group: str) -> float:
    return fio_side(result, f"{run}-{group}")["iops"]


def test_a_cap_holds_on_an_idle_disk(result: Result) -> None:
    assert fio_side(result, "alone-app")["bw_bytes"] == pytest.approx(2**20, rel=0.02)
    assert fio_side(result, "idle-app")["bw_bytes"] == pytest.approx(2**20, rel=0.02)


def test_a_cap_leaves_the_rest_to_others(result: Result) -> None:
    """The capped group gets its reservation, half of its cap, and no more than its cap."""
    capped, free = (_iops(result, "beside", group) for group in ("app", "greedy"))
    assert 9.8 <= capped <= 20.4
    assert capped + free >= 0.9 * _iops(result, "without", "greedy")


def test_throttled_requests_are_visible(result: Result) -> None:
    assert re.search(r"^throttled +all .*, for \d+ us$", result.text("held.state"), re.M)
    backlog = result.text("held.backlog")
    assert re.search(r"\b(1[6-9]|20) pending, 0 in flight, throttled by its cap for", backlog)


def test_a_cap_leaves_tags_of_a_short_queue(result: Result) -> None:
    """It leaves a quarter and one more of that quarter: others see half of the tags at least."""
    [pending] = re.findall(r"(\d+) pending, .*throttled by its cap", result.text("short.backlog"))
    assert 4 <= int(pending) <= 5


def test_tasks_of_a_capped_group_do_not_take_all_wakeups(result: Result) -> None:
    """80 reads of another group, 10 ms each: more than there are free tags, behind 184 waiters."""
    reads = fio_side(result, "crowd-greedy")
    assert reads["total_ios"] == 80
    assert reads["lat_ns"]["max"] < 1.5e9


def test_another_scheduler_does_not_wait_for_a_cap(result: Result) -> None:
    """More than 16 reads, one a second, are pending before the switch; fio got them all."""
    before, after = map(float, result.text("switch.times").split())
    assert after - before < 2
    assert fio_side(result, "switch-app")["total_ios"] > 16
