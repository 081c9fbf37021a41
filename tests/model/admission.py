"""Admission as the design states it, in exact fractions, looking at every moment by itself."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

from tests.model.reservation import COST_MIN, SECOND, Params

ADMISSION_SUM = 1 << 62  # what is reserved beyond that is not told


def rate_and_burst(promise: Params, c_max: int) -> tuple[int, int]:
    """What it takes: bytes/s and bytes at once. Where bytes don't count, each operation is c_max.

    Where both do, it is the bytes.
    """
    if promise.bw:
        return promise.bw, promise.burst
    return promise.iops * c_max, promise.burst // COST_MIN * c_max


def due(promises: Sequence[Params], t: int, c_max: int) -> Fraction:
    """Bytes that must have been served t ns after all reservations began a burst at once."""
    total = Fraction(0)
    for promise in promises:
        if t >= promise.latency:
            bw, burst = rate_and_burst(promise, c_max)
            total += Fraction(bw * (t - promise.latency), SECOND) + burst
    return total


def requests(promise: Params, size: int) -> int:
    """How many requests of so many bytes it has under way: what its latency or its burst holds."""
    counts = [(promise.bw, promise.burst, size), (promise.iops, promise.burst // COST_MIN, 1)]
    return min(ceil(max(Fraction(rate * promise.latency, SECOND), burst) / unit)
               for rate, burst, unit in counts if rate)


def total_rate(promises: Sequence[Params], c_max: int) -> int:
    """Bytes/s in the long run."""
    return sum(rate_and_burst(promise, c_max)[0] for promise in promises)


def shortfall(promises: Sequence[Params], capacity: int,
              c_max: int) -> tuple[int, int, int] | None:
    """None if all can be honoured; otherwise (bytes/s, bytes, ns): what is missing, and when.

    The left side of the test changes its slope at the deadlines only; the worst of them is told,
    the earliest if there are several.
    """
    excess = min(total_rate(promises, c_max), ADMISSION_SUM) - capacity
    if excess > 0:
        return excess, 0, 0
    worst, when = 0, 0
    for t in sorted({promise.latency for promise in promises}):
        missing = ceil(due(promises, t, c_max) + c_max - Fraction(capacity * t, SECOND))
        if missing > worst:
            worst, when = missing, t
    return (0, worst, when) if worst else None


def left(promises: Sequence[Params], t: int, capacity: int, c_max: int) -> int:
    """Bytes that could be due by t besides, rounded down."""
    return max(0, floor(Fraction(capacity * t, SECOND) - c_max - due(promises, t, c_max)))


def least_capacity(promises: Sequence[Params], c_max: int) -> int:
    """The smallest capacity, in bytes/s, at which all can be honoured."""
    return max([total_rate(promises, c_max),
                *(ceil((due(promises, p.latency, c_max) + c_max) * SECOND / p.latency)
                  for p in promises)])
