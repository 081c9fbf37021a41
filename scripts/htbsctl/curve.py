"""Arrival curves: the smallest ones that cover the requests of a group.

Requests of c_i bytes at t_i conform to a curve of rho bytes/s and sigma bytes if no more than sigma
+ rho * t bytes arrive in any time t. For a given rho, the smallest sigma is the maximum level of a
bucket that the requests fill and that drains at rho (the paper of pClock, and network calculus).
"""

from collections.abc import Sequence
from typing import NamedTuple

_SECOND = 10**9
_STEPS = 24


class Arrival(NamedTuple):
    """A request: its arrival, ns, and the bytes that it is charged."""

    time: int
    cost: int


class Curve(NamedTuple):
    """bw: bytes/s; burst: bytes."""

    bw: int
    burst: int


def burst(arrivals: Sequence[Arrival], bw: int) -> int:
    """Return the smallest burst with which all arrivals conform to bw, rounded up."""
    held = most = 0.0
    last = arrivals[0].time
    for arrival in arrivals:
        held = max(0.0, held - bw * (arrival.time - last) / _SECOND) + arrival.cost
        most = max(most, held)
        last = arrival.time
    return -int(-most // 1)


def mean(arrivals: Sequence[Arrival]) -> float:
    """Return the bytes/s from the first to the last arrival, without the bytes of the last one."""
    took = arrivals[-1].time - arrivals[0].time
    return sum(each.cost for each in arrivals[:-1]) * _SECOND / took if took else 0.0


def trade_off(arrivals: Sequence[Arrival]) -> list[Curve]:
    """Return curves from the mean bandwidth up to that with which a burst is one request.

    The more bandwidth, the smaller is the burst; the ratio of two steps is constant.
    """
    low = max(1.0, mean(arrivals))
    largest = max(each.cost for each in arrivals)
    high = low
    while burst(arrivals, round(high)) > largest and high < low * 2**_STEPS:
        high *= 2
    steps = [round(low * (high / low) ** (step / _STEPS)) for step in range(_STEPS + 1)]
    return [Curve(bw, burst(arrivals, bw)) for bw in sorted(set(steps))]


def knee(curves: Sequence[Curve]) -> Curve:
    """Return the curve with the smallest product of bandwidth and burst.

    Beyond it a little more bandwidth saves little burst: twice the bandwidth is worth it only if it
    at least halves the burst.
    """
    return min(curves, key=lambda curve: (curve.bw * curve.burst, curve.bw))
