"""Arrival curves: the smallest that cover what a group did.

Requests of c_i bytes at t_i keep to a curve of rho bytes/s and sigma bytes if in no time t more
than sigma + rho * t arrive. For a rho, the smallest sigma is the most that a bucket ever holds
which is filled by the requests and drained at rho (the paper of pClock, and network calculus).
"""

from collections.abc import Sequence
from typing import NamedTuple

_SECOND = 10**9
_STEPS = 24


class Arrival(NamedTuple):
    """A request: when it came, ns, and what it is charged, bytes."""

    time: int
    cost: int


class Curve(NamedTuple):
    """bw: bytes/s; burst: bytes."""

    bw: int
    burst: int


def burst(arrivals: Sequence[Arrival], bw: int) -> int:
    """The smallest burst with which all arrivals conform to a bandwidth; rounded up."""
    held = most = 0.0
    last = arrivals[0].time
    for arrival in arrivals:
        held = max(0.0, held - bw * (arrival.time - last) / _SECOND) + arrival.cost
        most = max(most, held)
        last = arrival.time
    return -int(-most // 1)


def mean(arrivals: Sequence[Arrival]) -> float:
    """Bytes/s from the first to the last arrival, which is not counted."""
    took = arrivals[-1].time - arrivals[0].time
    return sum(each.cost for each in arrivals[:-1]) * _SECOND / took if took else 0.0


def trade_off(arrivals: Sequence[Arrival]) -> list[Curve]:
    """Curves from the mean bandwidth up to that with which a burst is one request.

    The more bandwidth the smaller the burst; the steps are of the same factor.
    """
    low = max(1.0, mean(arrivals))
    largest = max(each.cost for each in arrivals)
    high = low
    while burst(arrivals, round(high)) > largest and high < low * 2**_STEPS:
        high *= 2
    steps = [round(low * (high / low) ** (step / _STEPS)) for step in range(_STEPS + 1)]
    return [Curve(bw, burst(arrivals, bw)) for bw in sorted(set(steps))]


def knee(curves: Sequence[Curve]) -> Curve:
    """Where a little more bandwidth stops saving much burst: the least product of the two.

    By it, twice the bandwidth has to halve the burst at least to be worth it.
    """
    return min(curves, key=lambda curve: (curve.bw * curve.burst, curve.bw))
