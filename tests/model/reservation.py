"""A flow and its requests, from the design, not from the C: curves, tags, access pattern."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import NamedTuple

SECOND = 10**9
COST_MIN = 4096  # the smallest request is charged this much
SEQ_LAST, SEQ_MIN = 8, 5  # sequential: at least 5 of the last 8 requests were
CAP_AHEAD = SECOND // 100  # a flow may be so far ahead of its cap
TAG_SWAPS = 64  # a request by position takes tags from this many places ahead at most
UNTAGGED_DEBT = SECOND  # requests that bypass the policy take a curve no further ahead


class Params(NamedTuple):
    """What a reservation promises: rho, sigma, delta; its weight, its cap, operations. 0: none.

    Bytes or operations count, or both. The burst of operations is `burst` / COST_MIN.
    """

    bw: int
    burst: int
    latency: int
    weight: int = 0
    max: int = 0
    iops: int = 0


class Tag(NamedTuple):
    """The start tag of a request by one curve, and how often the curve was full before."""

    start: int
    refills: int = 0


class Curve:
    """An arrival curve of bytes or of operations; rate: per second, 0: every request conforms."""

    def __init__(self, rate: int, burst: Fraction, v: int):
        self.rate, self.burst = rate, burst
        self.tat = Fraction(v)
        self.refills = 0

    def arrive(self, v: int, cost: int) -> Tag:
        """The tag of a request of this cost that arrives at v."""
        if not self.rate:
            return Tag(v)
        start = self.start(v, cost)
        self._refill(v)
        self.tat += Fraction(cost * SECOND, self.rate)
        return Tag(start, self.refills)

    def charge_untagged(self, v: int, cost: int) -> None:
        """Charge a request that has no tag, up to UNTAGGED_DEBT ahead of v."""
        if not self.rate:
            return
        self._refill(v)
        if self.tat >= v + UNTAGGED_DEBT:
            return
        debt = self.tat + Fraction(cost * SECOND, self.rate)
        self.tat = min(debt, Fraction(v + UNTAGGED_DEBT))

    def _refill(self, v: int) -> None:
        """A curve behind v is full: earlier charges no longer count."""
        if self.tat < v:
            self.tat = Fraction(v)
            self.refills += 1

    def start(self, v: int, cost: int) -> int:
        """The start tag that a request of this cost would get."""
        if not self.rate:
            return v
        tau = max(0, floor((self.burst - cost) * SECOND / self.rate))
        return max(v, floor(self.tat) - tau)

    def refund(self, tag: Tag, cost: int) -> int:
        """Refund a request, unless the curve was full since. How far tat fell."""
        if not self.rate or tag.refills != self.refills:
            return 0
        before = floor(self.tat)
        self.tat -= Fraction(cost * SECOND, self.rate)
        return before - floor(self.tat)


@dataclass(eq=False)
class Request:
    """A request; from its arrival on with its start tags and the real time it is due.

    A request that bypasses the policy never arrives, so it does not conform.
    """

    size: int
    pos: int = 0
    sync: bool = True
    tags: tuple[Tag, ...] = (Tag(0), Tag(0))  # by bytes, by operations
    due: int = 0
    conforming: bool = False
    sent: int = 0  # when it was dispatched
    write: bool = False
    placed: int = 0  # order of insertion, for requests with the same position
    arrived: int | None = None  # since when it is pending; None: since it is inserted
    data: bool = True  # it moves data; else it costs COST_MIN, whatever its length

    @property
    def start(self) -> int:
        """S, the later of both start tags."""
        return max(tag.start for tag in self.tags)

    @property
    def sectors(self) -> int:
        """Length in sectors."""
        return self.size // 512

    @property
    def cost(self) -> int:
        """Bytes charged."""
        return max(self.size, COST_MIN) if self.data else COST_MIN


class Reservation:
    """A flow: its curves, its pending requests in the order of arrival, its access pattern."""

    def __init__(self, params: Params, v: int, now: int):
        self.init_curves(params, v)
        self.share = Fraction(0)  # share tag, ns of the time of shares
        self.cap = Fraction(now)  # bytes dispatched over the cap: ns of real time
        self.throttled = False  # its cap was exceeded at the last dispatch
        self.device_tag = 0  # start tag by the time that the device took in an overload
        self.queue: list[Request] = []
        self.entered = 0  # order of insertion, for flows with the same finish tag
        self.joined = 0  # the same for flows with the same share tag
        self.shares = False  # it is inserted by share tag
        self.in_flight = 0
        self.history = [False] * SEQ_LAST
        self.next_pos: int | None = None  # after its last request, once there was one
        self.sweep = 0  # the sector from which a request by position is looked for
        self.sync = False
        self.pace = now  # when its next request is eligible at the latest
        self.idle_since = now
        self.think = 0
        self.cost = 0  # of its last request

    def init_curves(self, params: Params, v: int) -> None:
        """Both curves start with a full burst."""
        self.params = params
        self.bytes = Curve(params.bw, Fraction(params.burst), v)
        self.ops = Curve(params.iops, Fraction(params.burst, COST_MIN), v)

    def arrive(self, v: int, cost: int) -> tuple[Tag, Tag]:
        """The tags of a request of `cost` bytes that arrives at v."""
        return self.bytes.arrive(v, cost), self.ops.arrive(v, 1)

    def start(self, v: int, cost: int) -> int:
        """The start tag that a request of this cost would get."""
        return max(self.bytes.start(v, cost), self.ops.start(v, 1), self.device_tag)

    def refund(self, request: Request, v: int) -> None:
        """Refund a request: later tags of each curve move back by its cost, but not before v."""
        costs = (request.cost, 1)
        steps = [curve.refund(tag, cost) for curve, tag, cost
                 in zip((self.bytes, self.ops), request.tags, costs, strict=True)]
        for other in self.queue:
            other.tags = tuple(tag._replace(start=max(tag.start - step, v))
                               for tag, step in zip(other.tags, steps, strict=True))

    def cap_end(self) -> int:
        """When the flow is unthrottled, if it is throttled."""
        return floor(self.cap) - CAP_AHEAD

    def due(self, request: Request) -> int:
        """When a request is due: no earlier than if it arrived when the cap lets it go on."""
        if not self.params.max:
            return request.due
        return max(request.due, self.cap_end() + self.params.latency)

    def waits_since(self) -> int:
        """Since when the head is pending, not counting the time in which the cap throttles it."""
        arrived = min(request.arrived for request in self.queue[:1])
        return max(arrived, self.cap_end()) if self.params.max else arrived

    def eligible(self) -> int:
        """When the head is eligible.

        At once if a conforming request is pending; else when its start tag would have come in real
        time, or at the pace of the flow, if that is earlier.
        """
        if any(request.conforming for request in self.queue):
            return self.waits_since()
        return min(self.pace, self.due(self.queue[0]) - self.params.latency)

    def advance_pace(self, now: int, cost: int) -> None:
        """A request is dispatched: the pace advances by its cost over the reserved rate."""
        rates = [(cost, self.params.bw), (1, self.params.iops)]
        step = max(each * SECOND // rate for each, rate in rates if rate)
        self.pace = min(max(self.pace, now - self.params.latency), now) + step

    def min_start(self) -> int:
        """MinS, but no earlier than the tag by the device's time."""
        return max(self.device_tag, min(request.start for request in self.queue))

    def finish(self) -> int:
        """The finish tag of the head."""
        return self.min_start() + self.params.latency

    def burst(self) -> int:
        """How many pending requests may be due at once: at least one, at most a burst."""
        pending = len(self.queue)
        cost = self.cost if self.params.bw else COST_MIN
        if pending * cost <= self.params.burst:
            return pending
        return max(1, self.params.burst // cost)

    def sequential(self) -> bool:
        """Are most of its requests sequential."""
        return sum(self.history) >= SEQ_MIN

    def nearest(self) -> Request:
        """The next pending request by position."""
        return nearest(self.queue, self.sweep)


def nearest(queue: list[Request], sweep: int) -> Request:
    """The first request from the sector `sweep` on, else the first request of all."""
    return min(queue, key=lambda request: (request.pos < sweep, request.pos, request.placed))


def take(queue: list[Request], request: Request) -> None:
    """Remove a request from the queue. A surplus request that passes older ones swaps tags.

    It takes the tags of the oldest surplus request behind the last conforming one, and each of
    these takes those of the next, so tags leave in their order. At most TAG_SWAPS requests swap.
    """
    place = queue.index(request)
    older = queue[max(0, place - TAG_SWAPS):place]
    while older and not request.conforming and not older[-1].conforming:
        other = older.pop()
        request.tags, other.tags = other.tags, request.tags
        request.due, other.due = other.due, request.due
    del queue[place]
