"""Reservations are kept, spare capacity is shared, no group starves. All in virtual time."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot, fio_side, htbs_stat

pytestmark = pytest.mark.guest

GUEST = Boot("reservation")


def _iops(result: Result, run: str, group: str) -> float:
    return fio_side(result, f"{run}-{group}")["iops"]


def _latency_ms(result: Result, run: str, group: str, what: str = "max") -> float:
    """Return the time of an I/O from submission to completion, including the wait for a tag."""
    return fio_side(result, f"{run}-{group}")["lat_ns"][what] / 1e6


def _latencies_ms(result: Result, run: str) -> list[float]:
    """Return this time for each I/O of a run, in order."""
    lines = result.text(f"{run}_lat.1.log").splitlines()
    return [int(line.split(",")[1]) / 1e6 for line in lines]


def test_conforming_reader_beside_a_greedy_one(result: Result) -> None:
    stat = htbs_stat(result.text("greedy-app.stat"))
    assert _iops(result, "greedy", "app") == pytest.approx(20, rel=0.05)
    assert stat["conforming"] == stat["inserted"] == stat["met"]
    assert stat["missed"] == stat["late_max_us"] == 0
    assert _latency_ms(result, "greedy", "app") <= 60


def test_reservation_made_the_difference(result: Result) -> None:
    assert _latency_ms(result, "none", "app", "mean") > 60


def test_spare_capacity_is_used(result: Result) -> None:
    assert _iops(result, "greedy", "greedy") > 60


def test_spare_capacity_is_shared_by_bandwidth(result: Result) -> None:
    """It is shared as device time; longer runs move more in the same time."""
    one, three, two = (_iops(result, "shares", group) for group in ("flood1", "flood3", "rest"))
    assert one + two + three > 60, "the disk's random reads"
    assert three / one == pytest.approx(3, rel=0.25)
    assert two / one == pytest.approx(2, rel=0.25)


def test_the_rest_is_shared_by_weight(result: Result) -> None:
    """These are the requests beyond the five a second that each group has reserved."""
    one, three, other = (
        _iops(result, "weights", group) - 5 for group in ("flood1", "flood3", "rest")
    )
    assert one + three + other > 45, "the disk's random reads"
    assert three / one == pytest.approx(3, rel=0.25)
    assert other / one == pytest.approx(1, rel=0.1)


def test_idle_class_alone_has_the_disk(result: Result) -> None:
    assert _iops(result, "idle-alone", "idle") > 60


def test_idle_class_is_behind_conforming_requests(result: Result) -> None:
    stat = htbs_stat(result.text("idle-beside-app.stat"))
    assert stat["conforming"] == stat["inserted"] == stat["met"]
    assert stat["missed"] == 0
    assert _latency_ms(result, "idle-beside", "app") <= 60
    assert _iops(result, "idle-beside", "idle") > 20


def test_idle_class_gets_on_beside_a_flood(result: Result) -> None:
    """One request in each 16 times the longest service time, which is about 10 ms."""
    assert fio_side(result, "idle-flood-idle")["total_ios"] in range(20, 40)
    assert 100 < _latency_ms(result, "idle-flood", "idle") < 300


def test_last_wait_ends_in_time(result: Result) -> None:
    """It ends a sixteenth of a second after the reader's last request."""
    stat = htbs_stat(result.text("last-wait-app.stat"))
    assert stat["hits"] > 10
    assert 100 < _latency_ms(result, "last-wait", "flood3") < 600


def test_flood_leaves_tags_to_others(result: Result) -> None:
    """The disk takes 20 ms for a request, and has 32 in flight."""
    assert _latency_ms(result, "tags", "app", "mean") < 40
    assert _latency_ms(result, "tags", "app") < 50
    assert _iops(result, "tags", "greedy") > 1000
    assert htbs_stat(result.text("tags-app.stat"))["missed"] == 0


def test_four_floods_seldom_keep_the_first_tag_from_others(result: Result) -> None:
    """All five begin at once and need more tags than there are; blk-mq chooses the waiter."""
    first = sorted(_latencies_ms(result, f"tags-of-four-{time}")[0] for time in range(1, 6))
    assert first[-2] < 50
    assert first[-1] < 82


@pytest.mark.parametrize("time", range(1, 6))
def test_four_floods_leave_tags_to_others(result: Result, time: int) -> None:
    """A quarter of the tags for each of them would be all tags.

    A request takes 20 ms in the device, and may wait as long until the device takes it.
    """
    run = f"tags-of-four-{time}"
    floods = ("greedy", "flood1", "flood3", "rest")
    assert _latency_ms(result, run, "app", "mean") < 42
    assert max(_latencies_ms(result, run)[1:]) < 45
    assert sum(_iops(result, run, flood) for flood in floods) > 1000
    assert htbs_stat(result.text(f"{run}-app.stat"))["missed"] == 0
