"""Admission as the design states it, in exact fractions, looking at every moment by itself."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

from tests.model.htbs import SECOND, Params


def due(promises: Sequence[Params], t: int) -> Fraction:
    """Bytes that must have been served t ns after all reservations began a burst at once."""
    return sum((Fraction(bw * (t - latency), SECOND) + burst
                for bw, burst, latency, *_ in promises if t >= latency), Fraction(0))


def shortfall(promises: Sequence[Params], capacity: int,
              c_max: int) -> tuple[int, int, int] | None:
    """None if all can be honoured; otherwise (bytes/s, bytes, ns): what is missing, and when.

    The left side of the test changes its slope at the deadlines only; the worst of them is told,
    the earliest if there are several.
    """
    excess = sum(promise.bw for promise in promises) - capacity
    if excess > 0:
        return excess, 0, 0
    worst, when = 0, 0
    for t in sorted({promise.latency for promise in promises}):
        missing = ceil(due(promises, t) + c_max - Fraction(capacity * t, SECOND))
        if missing > worst:
            worst, when = missing, t
    return (0, worst, when) if worst else None


def left(promises: Sequence[Params], t: int, capacity: int, c_max: int) -> int:
    """Bytes that could be due by t besides, rounded down."""
    return max(0, floor(Fraction(capacity * t, SECOND) - c_max - due(promises, t)))


def least_capacity(promises: Sequence[Params], c_max: int) -> int:
    """The smallest capacity, in bytes/s, at which all can be honoured."""
    return max([sum(promise.bw for promise in promises),
                *(ceil((due(promises, p.latency) + c_max) * SECOND / p.latency)
                  for p in promises)])
