"""No fixed number of reads in flight does better on flash than the window that HTBS learns."""

import pytest

from tests.sim.frontier import FRONTIERS, Point
from tests.sim.sim import MS, Knobs

LOAD = FRONTIERS["reads"]


@pytest.fixture(scope="module")
def free() -> float:
    return LOAD.free()


@pytest.fixture(scope="module")
def windows(free: float) -> list[Point]:
    return [LOAD.point("", Knobs(t_wait=0, window=each), free) for each in range(14, 28, 2)]


def test_no_window_has_both(windows: list[Point]) -> None:
    """No window has both 85 % of the drive and a p99.9 of 1 ms; so HTBS has less in flash-read."""
    assert max(each.part for each in windows) >= 0.85
    assert min(each.p999 for each in windows) <= MS
    assert max(each.part for each in windows if each.p999 <= MS) < 0.85


def test_htbs_is_on_the_frontier(free: float, windows: list[Point]) -> None:
    """Windows whose p99.9 is no longer do no more; half a step of windows is tolerated."""
    htbs = LOAD.point("", Knobs(t_wait=0), free)
    assert htbs.p999 <= MS
    assert htbs.part > max(each.part for each in windows if each.p999 <= htbs.p999) - 0.02
