"""The rule of slack, from the design, not from the C: what the others can bear, and what a seek is.

Times are whole nanoseconds; what is divided is rounded towards zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import trunc

SECOND = 10**9
HORIZON = SECOND  # no run is planned further ahead
HEADS = 16  # so many of those whose deadlines come first are looked at


@dataclass
class Service:
    """How long the device takes for a request, told from when it has any to when each is done."""

    seek: int  # with a seek: the largest seen, fading
    stream: int = 0  # as one of a run, not its first: a mean
    since: int = 0
    streaming: bool = False

    def begin(self, now: int, streaming: bool) -> None:
        """A request goes to the device, which was idle."""
        self.since, self.streaming = now, streaming

    def end(self, now: int) -> None:
        """It is done."""
        took, self.since = now - self.since, now
        if self.streaming:
            self.stream += trunc(Fraction(took - self.stream, 8))
        else:
            self.seek = max(took, self.seek - trunc(Fraction(self.seek - took, 256)))


@dataclass
class Overload:
    """Are deadlines being lost: from more than a quarter of them to no more than an eighth."""

    lost: int = 0  # part of the requests, of late, in units of 1/65536
    now: bool = False

    def learn(self, lost: bool) -> bool:
        """A request is dispatched, after its deadline or not. Did an overload begin or end."""
        was = self.now
        self.lost = (31 * self.lost + (65536 if lost else 0)) // 32
        self.now = self.lost > (65536 // 8 if was else 65536 // 4)
        return self.now != was


def bearable(dues: Sequence[int], seek: int, now: int) -> int:
    """When the device must be free for others, whose oldest requests are due then.

    The k-th of them is served k-th, each with a seek, and half a seek is left over.
    """
    return min([now + HORIZON,
                *(due - seek // 2 - k * seek for k, due in enumerate(dues, start=1))])
