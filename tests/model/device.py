"""What the device has, and what it may be given beside that, from the design, not from the C."""

from tests.model.order import Order
from tests.model.reservation import SECOND, Request, Reservation
from tests.model.slack import BACKGROUND_PART, Service
from tests.model.window import DEADLINES_MAX, Window


class Device(Order):
    """The requests in flight, the windows, and the heads that may go."""

    def __init__(self, rule: str, seek: int, rotational: bool):
        super().__init__(rule)
        self.rotational = rotational
        self.background_due = 0  # when a request of the background is eligible
        self.active: Reservation | None = None
        self.run = 0
        self.in_flight = 0
        self.deadlines: list[int] = []  # of conforming requests in flight, DEADLINES_MAX at most
        self.writes = 0  # writes in flight
        self.windows = [Window(), Window()]  # for reads, for writes
        self.held = False  # a head is held back until something changes
        self.service = Service(seek)

    def _can_dispatch(self, flow: Reservation, now: int) -> bool:
        """May the head of a flow be dispatched now.

        With policy=slack a head is held back if the window is full, unless it is eligible. A
        rotational device may pass a conforming request for each other one that it has, so a head
        is also held back if it could make a conforming request late: each takes a seek, half a
        seek if the head is eligible. In an overload an eligible head is always dispatched.
        """
        eligible = self._is_eligible(flow, now)
        if self.rule == "paper" or (eligible and self._overloaded()):
            return True
        worst = (self.in_flight + 1) * self.service.seek
        if eligible:
            worst = (worst + self.service.seek) // 2
        if any(due < now + worst for due in self.deadlines):
            return False
        if eligible:
            return True
        write = flow.queue[0].write
        return self.windows[write].open(self._in_flight(write), now)

    def _in_flight(self, write: bool) -> int:
        """The writes, or the other requests, in flight."""
        return self.writes if write else self.in_flight - self.writes

    def _least_left(self, flow: Reservation) -> int:
        """A turn that begins with less time to its deadline is late: half a seek on a disk.

        0 if the latency is no longer than a seek.
        """
        seek = self.service.seek
        return seek // 2 if self.rotational and flow.params.latency > seek else 0

    def _inflight_add(self, flow: Reservation, request: Request, now: int, streaming: bool) -> None:
        """The device has one request more."""
        request.sent = now
        if not self.in_flight:
            self.service.begin(now, streaming)
        self.in_flight += 1
        flow.in_flight += 1
        self.writes += request.write
        if self.rotational and request.conforming and len(self.deadlines) < DEADLINES_MAX:
            self.deadlines.append(request.due)

    def _inflight_remove(self, flow: Reservation, request: Request) -> None:
        """The device has one request less."""
        self.in_flight -= 1
        flow.in_flight -= 1
        self.writes -= request.write
        if self.rotational and request.conforming and request.due in self.deadlines:
            self.deadlines.remove(request.due)
        if not self.in_flight:
            self.deadlines.clear()
        self.held = False

    def _device_share_charge(self, flow: Reservation, took: int) -> None:
        """In an overload a second tag advances by the time that the device took for a flow."""
        if not self._overloaded() or flow is self.background:
            return
        before = flow.queue and flow.min_start()
        flow.device_tag = max(flow.device_tag, self.v) + min(took, SECOND)
        if flow.queue and flow.min_start() != before:
            self._link(flow)

    def _is_eligible(self, flow: Reservation, now: int) -> bool:
        """Is the head of a flow eligible now."""
        if flow is self.background:
            return now >= self.background_due
        return flow.queue[0].conforming or now >= flow.eligible()

    def _background_eligible(self, now: int) -> bool:
        """Is a request of the background pending and eligible."""
        return bool(self.background.queue) and self._is_eligible(self.background, now)

    def _defer_background(self, now: int) -> None:
        """The next request of the background is eligible after its part of the device's time."""
        self.background_due = now + BACKGROUND_PART * (self.service.seek + 1)

    def _eligible(self, now: int) -> list[Reservation]:
        """The flows with an eligible head, the smallest finish tag first."""
        return [flow for flow in self._backlogged() if now >= flow.eligible()]
