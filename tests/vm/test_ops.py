"""Reserved operations are kept, and limit which requests conform. In virtual time."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot, fio_side, htbs_stat

pytestmark = pytest.mark.guest

GUEST = Boot("ops")


def _iops(result: Result, run: str, group: str) -> float:
    return fio_side(result, f"{run}-{group}")["iops"]


def test_operations_alone_whatever_their_size(result: Result) -> None:
    """20 a second of 128 KiB, where 25 are reserved: each conforms, but one; all are on time."""
    stat = htbs_stat(result.text("alone-app.stat"))
    assert _iops(result, "alone", "app") == pytest.approx(20, rel=0.05)
    assert stat["inserted"] - 1 <= stat["conforming"] == stat["met"]
    assert stat["missed"] == 0


def test_beside_bytes_no_more_than_both_conform(result: Result) -> None:
    """10 of 20 requests a second are reserved, for five seconds, with a burst of two."""
    limited, free = (int(result.text(f"{run}.conforming")) for run in ("beside", "bytes"))
    assert 2 <= limited <= 53
    assert free == pytest.approx(100, rel=0.05)


def test_surplus_is_shared_by_reserved_operations(result: Result) -> None:
    """Surplus is shared as device time, of which a large request takes a little more.

    By bytes it would be 1 : 5.
    """
    large, small = (_iops(result, "shares", group) for group in ("large", "small"))
    assert small / large == pytest.approx(3, rel=0.3)
