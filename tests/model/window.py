"""The window, from the design, not from the C: how much a device may have while requests conform.

Exact fractions would do as well; the steps are whole 1/256 of a request, as in the C.
"""

from dataclasses import dataclass

from tests.model.reservation import SECOND

ONE = 256
MAX = 1024 * ONE
HOLD = SECOND
DEADLINES_MAX = 32  # commands of a disk that picks what it reaches first


@dataclass
class Window:
    """Bounds what is in flight until `until`: `limit` is in units of 1/256 request."""

    limit: int = MAX
    until: int = 0
    full: bool = False  # it held a request back since one was judged

    def hold(self, now: int) -> None:
        """A conforming request arrives."""
        self.until = now + HOLD

    def open(self, in_flight: int, now: int) -> bool:
        """May the device, which has so many, get one that doesn't conform."""
        closed = now < self.until and in_flight * ONE >= self.limit
        self.full |= closed
        return not closed

    def update(self, in_flight: int, took: int, budget: int) -> None:
        """A conforming request is done: was it in the device for more than half of its time."""
        if took > budget // 2:
            limit = min(self.limit, in_flight * ONE)
            self.limit = max(limit - limit // 8, ONE)
        elif self.full:
            self.limit = min(self.limit + ONE // 32, MAX)
        self.full = False
