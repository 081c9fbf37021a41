"""The order of backlogged flows, from the design, not from the C.

The flow with the smallest finish tag is first. Surplus may go by weights, and a cap throttles a
flow that exceeded it.
"""

from fractions import Fraction
from math import floor

from tests.model.reservation import SECOND, Params, Reservation
from tests.model.slack import Overload

WEIGHT_DEFAULT = 100  # of a flow that was given none, while others were
WEIGHT_RATE = 65536  # bytes a second of the time of shares, for a weight of 1
CAP_DEBT = 3600 * SECOND  # requests that bypass a cap put a flow no further ahead


class Order:
    """The reservations of one device, in order."""

    def __init__(self, rule: str):
        self.rule = rule
        self.drift = 0
        self.v = 0  # the virtual time of the last tags
        self.flows: list[Reservation] = []
        self.background = Reservation(Params(4096, 4096, 1000), 0, 0)
        self.overload = Overload()
        self.entries = 0
        self.joins = 0
        self.shared = 0  # the smallest share tag when surplus was last dispatched
        self.turn = False  # the active flow was chosen by share tag
        self.drains = False  # the queue has to be emptied: caps throttle nothing

    def init_flow(self, params: Params, now: int) -> Reservation:
        """A new reservation starts with a full burst."""
        flow = Reservation(params, self._update_time(now), now)
        self.flows.append(flow)
        return flow

    def _overloaded(self) -> bool:
        """Is there an overload; policy=paper ignores it."""
        return self.rule == "slack" and self.overload.now

    def _update_time(self, now: int) -> int:
        """The virtual time by which tags are given. In an overload it stands still."""
        if not self._overloaded():
            self.v = now + self.drift
        return self.v

    def _link(self, flow: Reservation) -> None:
        """Insert a flow by finish tag, behind those with the same tag."""
        self.entries += 1
        flow.entered = self.entries
        self._share_link(flow)

    def _backlogged(self) -> list[Reservation]:
        """The backlogged flows, the smallest finish tag first."""
        return sorted((flow for flow in self.flows if flow.queue and not flow.throttled),
                      key=lambda flow: (flow.finish(), flow.entered))

    def _next_flows(self, most: int | None = None) -> list[Reservation]:
        """The backlogged flows in the order of their turns, `most` of them.

        By finish tag. With weights, those with an entitled head by finish tag, then all by share
        tag.
        """
        backlogged = self._backlogged()[:most]
        if not self.weighted():
            return backlogged
        entitled = [flow for flow in backlogged if flow.min_start() <= self.v]
        return [*entitled, *self._by_share()[:most]]

    # Shares of the surplus.

    def _weight_given(self) -> bool:
        """Has any flow a weight."""
        return any(flow.params.weight for flow in self.flows)

    def weighted(self) -> bool:
        """Does surplus go by weights, which in an overload it does not."""
        return self._weight_given() and not self._overloaded()

    def set_weight(self, flow: Reservation, weight: int) -> None:
        """Set the weight of a flow, 0: none. Backlogged flows join with their next request."""
        if weight != flow.params.weight:
            flow.share = Fraction(floor(flow.share))
        flow.params = flow.params._replace(weight=weight)

    def _share_link(self, flow: Reservation) -> None:
        """Insert a flow by share tag, behind those with the same tag; no tag is in the past."""
        self.joins += 1
        flow.joined = self.joins
        flow.shares = self._weight_given() and bool(flow.queue) and not flow.throttled
        if flow.shares:
            flow.share = max(flow.share, Fraction(self.shared))

    def _is_surplus(self, flow: Reservation) -> bool:
        """Is the head of a flow surplus that goes by weight."""
        return (self.weighted() and flow is not self.background
                and flow.min_start() > max(self.v, flow.device_tag))

    def _by_share(self) -> list[Reservation]:
        """The flows inserted by share tag, the smallest tag first."""
        return sorted((flow for flow in self.flows if flow.shares),
                      key=lambda flow: (floor(flow.share), flow.joined))

    def _run_in_share(self, flow: Reservation) -> bool:
        """May the run go on: the next request is entitled, or the flow is first by share tag."""
        if not self.weighted() or self.turn:
            return True
        start = flow.min_start() if flow.queue else flow.start(self.v, flow.cost)
        if start <= self.v:
            return True
        self.turn = self._share_is_first(flow)
        return self.turn

    def _share_is_first(self, flow: Reservation) -> bool:
        """Has no other flow a smaller share tag."""
        return all(floor(flow.share) <= floor(other.share) for other in self._by_share())

    def _share_charge(self, flow: Reservation, cost: int) -> None:
        """A surplus request of a flow is dispatched: its share tag advances."""
        smallest = min(floor(each.share) for each in [flow, *self._by_share()])
        self.shared = max(self.shared, smallest)
        weight = flow.params.weight or WEIGHT_DEFAULT
        flow.share = max(flow.share, Fraction(self.shared))
        flow.share += Fraction(cost * SECOND, weight * WEIGHT_RATE)

    # Caps.

    def _throttles(self, flow: Reservation, now: int) -> bool:
        """Is a flow throttled now."""
        return flow.throttled and not self.drains and now < flow.cap_end()

    def _cap_charge(self, flow: Reservation, cost: int, now: int) -> None:
        """Charge a request that is dispatched to the cap of its flow."""
        if not flow.params.max:
            return
        flow.cap = max(flow.cap, Fraction(now)) + Fraction(cost * SECOND, flow.params.max)
        if floor(flow.cap) > now + CAP_DEBT:
            flow.cap = Fraction(now + CAP_DEBT)
        flow.throttled = not self.drains and now < flow.cap_end()

    def _throttled(self) -> list[Reservation]:
        """Throttled flows with pending requests, the first to be unthrottled first."""
        return sorted((flow for flow in self.flows if flow.queue and flow.throttled),
                      key=lambda flow: (floor(flow.cap), flow.entered))

    def next_unthrottle(self) -> int | None:
        """When the first throttled flow is unthrottled."""
        return next((flow.cap_end() for flow in self._throttled()), None)

    def drain(self, drains: bool) -> bool:
        """Set whether the queue has to be emptied. True if that changed."""
        before, self.drains = self.drains, drains
        return before != drains
