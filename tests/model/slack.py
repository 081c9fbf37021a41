"""The rule of slack, from the design, not from the C: what the others can bear, and what a seek is.

Times are whole nanoseconds; what is divided is rounded down.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.model.reservation import SECOND

HEADS = 16  # so many heads are looked at, the earliest deadlines first
SEEK_MAX = SECOND
RUN_MAX = SECOND
SHORT_RUN = 8  # seeks
LEAD = SECOND // 2  # in an overload: of virtual time, from one finish tag to the next one's
TURN_LEFT = 3  # seeks
EXPIRE = 30 * SECOND  # a head that has waited for so long goes first
BACKGROUND_PART = 16  # the inverse of the background's part of the device's time
SWEEP = 16  # of a run's requests the first of so many is the oldest, wherever it is


@dataclass
class Service:
    """What a request with a seek takes: the largest time seen, fading."""

    seek: int
    since: int = 0
    streaming: bool = False
    turn: int = field(init=False)  # how long a turn in a crowd goes on after its first request

    def __post_init__(self) -> None:
        """Nothing is known yet."""
        self.turn = self.seek // 8

    def begin_turn(self, left: int) -> None:
        """A turn begins in a crowd, with so much time to its deadline."""
        if left < TURN_LEFT * self.seek:
            self.turn //= 2
        elif self.turn < SEEK_MAX:
            self.turn += self.seek // 256

    def begin(self, now: int, streaming: bool) -> None:
        """A request goes to the device, which was idle; it may be one of a run, not its first."""
        self.since, self.streaming = now, streaming

    def end(self, now: int) -> int:
        """It is done, and took so long. However long, that at most doubles what is believed."""
        took, self.since = now - self.since, now
        if not self.streaming:
            sample = min(took, 2 * self.seek + 1, SEEK_MAX)
            self.seek = max(sample, self.seek - (self.seek - sample) // 1024)
        return took


@dataclass
class Overload:
    """Do turns come too late: more than a quarter of them, until all can be served in time."""

    late: int = 0  # part of them, of late, in units of 1/65536
    now: bool = False

    def account(self, late: bool) -> bool:
        """A reservation has its turn, after the deadline or not. Did an overload begin."""
        was = self.now
        self.late = (31 * self.late + (65536 if late else 0)) // 32
        self.now = was or self.late > 65536 // 4
        return self.now != was

    def end(self) -> None:
        """Forget."""
        self.late, self.now = 0, False


def slack_end(others: Iterable[tuple[int, int]], seek: int, in_flight: int, end: int) -> int:
    """Before when the next request of a run must begin; at `end` the run is over anyway.

    The others have (due, how many) requests, in the order in which they are to be served. Each
    takes a seek, and so may that next request, and each that the device has.
    """
    ahead = (in_flight + 1) * seek
    for due, count in others:
        ahead += count * seek
        end = min(end, due - ahead)
    return end


def slack_crowded(heads: list[tuple[int, int]], seek: int, in_flight: int) -> bool:
    """Would not all conforming requests be in time at worst, even had they come just now.

    Of the heads that conform: (latency, how many). With `in_flight` conforming ones before them.
    """
    return any((in_flight + sum(count for each, count in heads if each <= latency) + 1) * seek
               > latency for latency, _ in heads)
