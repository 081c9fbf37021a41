"""Whether a disk can keep a set of reservations: htbs/core/admission.c in exact fractions.

A reservation has bw (bytes/s), burst (bytes), latency (ns) and iops (operations/s), 0 for none.
c_max is the largest request, capacity_request.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Protocol

SECOND = 10**9
COST_MIN = 4096  # the smallest request is charged this much
ADMISSION_SUM = 1 << 62  # a larger excess is reported as this


class Params(Protocol):
    """The part of a reservation that takes time of a disk."""

    bw: int
    burst: int
    latency: int
    iops: int


def rate_and_burst(promise: Params, c_max: int) -> tuple[int, int]:
    """Return the bytes/s and the bytes at once of a reservation.

    These are its bytes if they count. Otherwise each operation may have c_max bytes.
    """
    if promise.bw:
        return promise.bw, promise.burst
    return promise.iops * c_max, promise.burst // COST_MIN * c_max


def due(promises: Sequence[Params], t: int, c_max: int) -> Fraction:
    """Return the bytes that are due t ns after all reservations began with a burst."""
    total = Fraction(0)
    for promise in promises:
        if t >= promise.latency:
            bw, burst = rate_and_burst(promise, c_max)
            total += Fraction(bw * (t - promise.latency), SECOND) + burst
    return total


def requests(promise: Params, size: int) -> int:
    """Return the requests of `size` bytes in flight, by a reservation's latency or its burst."""
    counts = [(promise.bw, promise.burst, size), (promise.iops, promise.burst // COST_MIN, 1)]
    return min(ceil(max(Fraction(rate * promise.latency, SECOND), burst) / unit)
               for rate, burst, unit in counts if rate)


def total_rate(promises: Sequence[Params], c_max: int) -> int:
    """Return the bytes/s in the long run."""
    return sum(rate_and_burst(promise, c_max)[0] for promise in promises)


def shortfall(promises: Sequence[Params], capacity: int,
              c_max: int) -> tuple[int, int, int] | None:
    """Return None if all can be kept, else (bytes/s, bytes, ns): what is missing, and when.

    The slope of the demand changes only at deadlines, so only these are tested. The result is the
    largest shortfall, and the earliest one of several equal ones.
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
    """Return the bytes that may be due by t in addition, rounded down."""
    return max(0, floor(Fraction(capacity * t, SECOND) - c_max - due(promises, t, c_max)))


def least_capacity(promises: Sequence[Params], c_max: int) -> int:
    """Return the smallest capacity, in bytes/s, with which all reservations can be kept."""
    return max([total_rate(promises, c_max),
                *(ceil((due(promises, p.latency, c_max) + c_max) * SECOND / p.latency)
                  for p in promises)])
