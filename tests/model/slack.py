"""Slack, from the design, not from the C: how long pending heads can wait, how long a seek takes.

Times are whole nanoseconds; what is divided is rounded down.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.model.reservation import SECOND

HEADS = 16  # heads that are looked at, in the order of finish tags
SEEK_MAX = SECOND
RUN_MAX = SECOND
SHORT_RUN = 8  # seeks
LEAD = SECOND // 2  # in an overload, how far a flow may be ahead, virtual time
TURN_LEFT = 3  # seeks
EXPIRE = 30 * SECOND  # a head that is pending for so long is dispatched first
BACKGROUND_PART = 16  # the inverse of the background's part of the device's time
SWEEP = 16  # of so many requests of a run, the first is the oldest


@dataclass
class Service:
    """The time for a request with a seek: a maximum that fades."""

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
        """A request is dispatched to the idle device; streaming: it continues a run."""
        self.since, self.streaming = now, streaming

    def end(self, now: int) -> int:
        """The request completes; how long it took. At most, that doubles the estimate."""
        took, self.since = now - self.since, now
        if not self.streaming:
            sample = min(took, 2 * self.seek + 1, SEEK_MAX)
            self.seek = max(sample, self.seek - (self.seek - sample) // 1024)
        return took


@dataclass
class Overload:
    """An overload begins when a quarter of the turns were late, and ends when none would be."""

    late: int = 0  # part of the last turns that were late, in units of 1/65536
    now: bool = False

    def account(self, late: bool) -> bool:
        """Account a turn, late or not. True if an overload began."""
        was = self.now
        self.late = (31 * self.late + (65536 if late else 0)) // 32
        self.now = was or self.late > 65536 // 4
        return self.now != was

    def end(self) -> None:
        """The overload is over; late turns are forgotten."""
        self.late, self.now = 0, False


def slack_end(others: Iterable[tuple[int, int]], seek: int, in_flight: int, end: int) -> int:
    """When a run has to end, so that the heads of the other flows are in time; `end` at the latest.

    Of each other flow: (due, how many requests are due with its head), in the order of service.
    Each of these requests takes a seek, and so does the next one of the run and each in flight.
    """
    ahead = (in_flight + 1) * seek
    for due, count in others:
        ahead += count * seek
        end = min(end, due - ahead)
    return end


def slack_crowded(heads: list[tuple[int, int]], seek: int, in_flight: int) -> bool:
    """Do more requests conform than can be in time with a seek each, had they arrived just now.

    Of each conforming head: (latency, how many requests are due with it). `in_flight` conforming
    requests are served first.
    """
    return any((in_flight + sum(count for each, count in heads if each <= latency) + 1) * seek
               > latency for latency, _ in heads)
