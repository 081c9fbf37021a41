"""One reservation and its requests, from the design, not from the C: curves, tags and habits."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import NamedTuple

SECOND = 10**9
COST_MIN = 4096  # the smallest request is charged this much
SEQ_LAST, SEQ_MIN = 8, 5  # sequential: at least 5 of the last 8 requests were
CAP_AHEAD = SECOND // 100  # so far may one be ahead of what it may have at most
TAG_SWAPS = 64  # so many places older are the tags at most that a request by position takes
UNTAGGED_DEBT = SECOND  # so far ahead at most does what goes past the policy take a curve


class Params(NamedTuple):
    """What a reservation promises: rho, sigma, delta; its weight, its cap, operations. 0: none.

    Bytes or operations count, or both. The burst is as many operations as it is smallest requests.
    """

    bw: int
    burst: int
    latency: int
    weight: int = 0
    max: int = 0
    iops: int = 0


class Tag(NamedTuple):
    """The start tag of a request by one curve, and how often that was full before."""

    start: int
    refills: int = 0


class Curve:
    """An arrival curve, of bytes or of operations; rate: of them per second, 0: all conforms."""

    def __init__(self, rate: int, burst: Fraction, v: int):
        self.rate, self.burst = rate, burst
        self.tat = Fraction(v)
        self.refills = 0

    def arrive(self, v: int, cost: int) -> Tag:
        """The tag of what costs so much and arrives at v."""
        if not self.rate:
            return Tag(v)
        start = self.start(v, cost)
        self._refill(v)
        self.tat += Fraction(cost * SECOND, self.rate)
        return Tag(start, self.refills)

    def charge_untagged(self, v: int, cost: int) -> None:
        """The same of what has no tag and makes no endless debt."""
        if not self.rate:
            return
        self._refill(v)
        if self.tat >= v + UNTAGGED_DEBT:
            return
        debt = self.tat + Fraction(cost * SECOND, self.rate)
        self.tat = min(debt, Fraction(v + UNTAGGED_DEBT))

    def _refill(self, v: int) -> None:
        """Time has passed; if the curve was behind it, it forgets what was before."""
        if self.tat < v:
            self.tat = Fraction(v)
            self.refills += 1

    def start(self, v: int, cost: int) -> int:
        """S of that, if it came."""
        if not self.rate:
            return v
        tau = max(0, floor((self.burst - cost) * SECOND / self.rate))
        return max(v, floor(self.tat) - tau)

    def refund(self, tag: Tag, cost: int) -> int:
        """Give back what a request cost, if the curve has not forgotten it; how far tat fell."""
        if not self.rate or tag.refills != self.refills:
            return 0
        before = floor(self.tat)
        self.tat -= Fraction(cost * SECOND, self.rate)
        return before - floor(self.tat)


@dataclass(eq=False)
class Request:
    """A request; from its arrival on with its start tags and the real time it is due.

    One that never arrived, as it goes past the scheduler, does not conform.
    """

    size: int
    pos: int = 0
    sync: bool = True
    tags: tuple[Tag, ...] = (Tag(0), Tag(0))  # by bytes, by operations
    due: int = 0
    conforming: bool = False
    sent: int = 0  # when the device got it
    write: bool = False
    placed: int = 0  # when it came to its position; the later of two stands behind
    arrived: int | None = None  # since when it waits; None: since it is inserted
    data: bool = True  # it moves data; one that does not costs the least, however long it is

    @property
    def start(self) -> int:
        """S: both curves entitle it."""
        return max(tag.start for tag in self.tags)

    @property
    def sectors(self) -> int:
        """Length in sectors."""
        return self.size // 512

    @property
    def cost(self) -> int:
        """Bytes charged for it."""
        return max(self.size, COST_MIN) if self.data else COST_MIN


class Reservation:
    """One reservation: its curves, its pending requests in the order of arrival, its habits."""

    def __init__(self, params: Params, v: int, now: int):
        self.init_curves(params, v)
        self.share = Fraction(0)  # share tag, ns of the time of shares
        self.cap = Fraction(now)  # what it had, over what it may have at most: ns of real time
        self.throttled = False  # it had too much when something of it was last dispatched
        self.device_tag = 0  # its start tag by the time that the device took for it in an overload
        self.queue: list[Request] = []
        self.entered = 0  # when its place among the backlogged ones was last assigned
        self.joined = 0  # the same of its place by share tags
        self.shares = False  # it has a place by share tags
        self.in_flight = 0
        self.history = [False] * SEQ_LAST
        self.next_pos: int | None = None  # after its last request, once there was one
        self.sweep = 0  # from where on the next by position is looked for
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
        """S of such a request, if it came."""
        return max(self.bytes.start(v, cost), self.ops.start(v, 1), self.device_tag)

    def refund(self, request: Request, v: int) -> None:
        """Give a request back: tags move back by as much by each curve, though not before v."""
        costs = (request.cost, 1)
        steps = [curve.refund(tag, cost) for curve, tag, cost
                 in zip((self.bytes, self.ops), request.tags, costs, strict=True)]
        for other in self.queue:
            other.tags = tuple(tag._replace(start=max(tag.start - step, v))
                               for tag, step in zip(other.tags, steps, strict=True))

    def cap_end(self) -> int:
        """When it may, if it is throttled."""
        return floor(self.cap) - CAP_AHEAD

    def due(self, request: Request) -> int:
        """When a request is due, given that the cap held it up."""
        if not self.params.max:
            return request.due
        return max(request.due, self.cap_end() + self.params.latency)

    def waits_since(self) -> int:
        """Since when its oldest request waits, but for its cap."""
        arrived = min(request.arrived for request in self.queue[:1])
        return max(arrived, self.cap_end()) if self.params.max else arrived

    def eligible(self) -> int:
        """From when on its oldest request is reserved work, which no window holds back.

        When a request that conforms is pending; else when the start tag would have come in real
        time, or, if that is earlier, at its pace.
        """
        if any(request.conforming for request in self.queue):
            return self.waits_since()
        return min(self.pace, self.due(self.queue[0]) - self.params.latency)

    def advance_pace(self, now: int, cost: int) -> None:
        """A request of so many bytes is dispatched: the pace moves on by what it is of the time."""
        rates = [(cost, self.params.bw), (1, self.params.iops)]
        step = max(each * SECOND // rate for each, rate in rates if rate)
        self.pace = min(max(self.pace, now - self.params.latency), now) + step

    def min_start(self) -> int:
        """MinS, but no earlier than the tag by time."""
        return max(self.device_tag, min(request.start for request in self.queue))

    def finish(self) -> int:
        """The smallest F."""
        return self.min_start() + self.params.latency

    def burst(self) -> int:
        """How many of its pending requests may be due at once: at least one, at most a burst."""
        pending = len(self.queue)
        cost = self.cost if self.params.bw else COST_MIN
        if pending * cost <= self.params.burst:
            return pending
        return max(1, self.params.burst // cost)

    def sequential(self) -> bool:
        """Are its requests so mostly."""
        return sum(self.history) >= SEQ_MIN

    def nearest(self) -> Request:
        """The next of its pending requests by position, going round."""
        return nearest(self.queue, self.sweep)


def nearest(queue: list[Request], sweep: int) -> Request:
    """The first from the sector `sweep` on; behind the last one comes the first of all."""
    return min(queue, key=lambda request: (request.pos < sweep, request.pos, request.placed))


def take(queue: list[Request], request: Request) -> None:
    """A request is pending no more. If it passes older ones its tags may be others'.

    Those that don't conform, back to the first that does, have their tags in the order of
    arrival whichever of them goes: it takes the oldest's, and each the next one's. But no further
    back than TAG_SWAPS.
    """
    place = queue.index(request)
    older = queue[max(0, place - TAG_SWAPS):place]
    while older and not request.conforming and not older[-1].conforming:
        other = older.pop()
        request.tags, other.tags = other.tags, request.tags
        request.due, other.due = other.due, request.due
    del queue[place]
