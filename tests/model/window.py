"""The window, from the design, not from the C: the surplus in flight while requests conform.

Exact fractions would do as well; the steps are whole 1/256 of a request, as in the C.
"""

from dataclasses import dataclass

from tests.model.reservation import SECOND

ONE = 256
MAX = 1024 * ONE
HOLD = SECOND
DEADLINES_MAX = 32  # commands of a SATA disk


@dataclass
class Window:
    """Until `until`, bounds what is in flight to `limit`, in units of 1/256 request."""

    limit: int = MAX
    until: int = 0
    full: bool = False  # it held a request back since the last update

    def hold(self, now: int) -> None:
        """A conforming request arrives."""
        self.until = now + HOLD

    def open(self, in_flight: int, now: int) -> bool:
        """May a surplus request be dispatched to a device with this many in flight."""
        closed = now < self.until and in_flight * ONE >= self.limit
        self.full |= closed
        return not closed

    def update(self, in_flight: int, took: int, budget: int) -> None:
        """A conforming request completes: did it take more than half of its time."""
        if took > budget // 2:
            limit = min(self.limit, in_flight * ONE)
            self.limit = max(limit - limit // 8, ONE)
        elif self.full:
            self.limit = min(self.limit + ONE // 32, MAX)
        self.full = False
