"""HTBS as an executable specification, written from the design and the paper, not from the C.

It is slow and plain on purpose: integers have no limit, time never wraps, the theoretical arrival
time is an exact fraction, and whoever is searched for is found by looking at all.

Units: bytes, bytes per second, nanoseconds, sectors. A tag is a whole number of nanoseconds; where
the curve gives a fraction, tat and tau are each rounded down before they are subtracted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import NamedTuple

from tests.model.slack import (
    HEADS,
    RUN_MAX,
    SECOND,
    SHORT_RUN,
    SWEEP,
    Overload,
    Service,
    bearable,
)
from tests.model.window import URGENT_MAX, Window

COST_MIN = 4096  # the smallest request is charged this much
SEQ_GAP = 128  # sectors that a sequential request may leave out
SEQ_LAST, SEQ_MIN = 8, 5  # sequential: at least 5 of the last 8 requests were
WEIGHT_DEFAULT = 100  # of who was given none, while others were
WEIGHT_RATE = 65536  # bytes a second of the time of shares, for a weight of 1
CAP_AHEAD = SECOND // 100  # so far may one be ahead of what it may have at most
PASS_DEBT = SECOND  # so far ahead at most does what goes past the policy take a curve
CAP_DEBT = 3600 * SECOND  # so far ahead at most does what can't be stopped take it
BACKGROUND_AGE = SECOND  # the background gets one request in this time, whoever else is pending


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

    def pass_by(self, v: int, cost: int) -> None:
        """The same of what has no tag and makes no endless debt."""
        if not self.rate:
            return
        self._refill(v)
        if self.tat >= v + PASS_DEBT:
            return
        debt = self.tat + Fraction(cost * SECOND, self.rate)
        self.tat = min(debt, Fraction(v + PASS_DEBT))

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


class Arrival(NamedTuple):
    """What was made of an arrival."""

    start: int
    v: int
    due: int
    jump: int
    conforming: bool
    hit: bool
    hurry: bool


class Choice(NamedTuple):
    """Whom to serve; `flow` is None if nobody."""

    flow: object
    jump: int
    switched: bool
    wait_began: bool
    timed_out: bool
    relieved: bool = False
    held: bool = False
    nearest: bool = False


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
        self.promise(params, v)
        self.share = Fraction(0)  # share tag, ns of the time of shares
        self.cap = Fraction(now)  # what it had, over what it may have at most: ns of real time
        self.stopped = False  # it had too much when something of it was last dispatched
        self.queue: list[Request] = []
        self.entered = 0  # when its place among the backlogged ones was last assigned
        self.joined = 0  # the same of its place by share tags
        self.in_flight = 0
        self.history = [False] * SEQ_LAST
        self.next_pos: int | None = None  # after its last request, once there was one
        self.sweep = 0  # from where on the next by position is looked for
        self.sync = False
        self.idle_since = now
        self.think = 0
        self.cost = 0  # of its last request

    def promise(self, params: Params, v: int) -> None:
        """Both curves start with a full burst."""
        self.params = params
        self.bytes = Curve(params.bw, Fraction(params.burst), v)
        self.ops = Curve(params.iops, Fraction(params.burst, COST_MIN), v)

    def tag(self, v: int, cost: int) -> tuple[Tag, Tag]:
        """The tags of a request of `cost` bytes that arrives at v."""
        return self.bytes.arrive(v, cost), self.ops.arrive(v, 1)

    def start(self, v: int, cost: int) -> int:
        """S of such a request, if it came."""
        return max(self.bytes.start(v, cost), self.ops.start(v, 1))

    def refund(self, request: Request, v: int) -> None:
        """Give a request back: tags move back by as much by each curve, though not before v."""
        costs = (request.cost, 1)
        steps = [curve.refund(tag, cost) for curve, tag, cost
                 in zip((self.bytes, self.ops), request.tags, costs, strict=True)]
        for other in self.queue:
            other.tags = tuple(tag._replace(start=max(tag.start - step, v))
                               for tag, step in zip(other.tags, steps, strict=True))

    def go_on(self) -> int:
        """When it may, if it is stopped."""
        return floor(self.cap) - CAP_AHEAD

    def due(self, request: Request) -> int:
        """When a request is due, given that the cap held it up."""
        if not self.params.max:
            return request.due
        return max(request.due, self.go_on() + self.params.latency)

    def min_start(self) -> int:
        """MinS."""
        return min(request.start for request in self.queue)

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
    arrival whoever of them goes: it takes the oldest's, and each the next one's.
    """
    place = queue.index(request)
    older = queue[:place]
    while older and not request.conforming and not older[-1].conforming:
        other = older.pop()
        request.tags, other.tags = other.tags, request.tags
        request.due, other.due = other.due, request.due
    del queue[place]


class Policy:
    """The scheduler of one device. `now` is real time and never falls."""

    def __init__(self, b_max: int, t_wait: int, rule: str = "paper", seek: int = 0,
                 reorders: bool = False):
        self.b_max, self.t_wait, self.rule, self.reorders = b_max, t_wait, rule, reorders
        self.drift = 0
        self.v = 0  # the virtual time by which tags are given, and were given last
        self.flows: list[Reservation] = []
        self.background = Reservation(Params(4096, 4096, 1000), 0, 0)
        self.background_due = 0
        self.active: Reservation | None = None
        self.run = 0
        self.run_since = 0
        self.in_flight = 0
        self.urgent: list[int] = []  # when those of them that conform are due; not of too many
        self.writes = 0  # of those in flight
        self.windows = [Window(), Window()]  # of those that don't write, of those that do
        self.held = False  # a request is held back until something changes
        self.service = Service(seek)
        self.overload = Overload()
        self.wait: str | None = None  # "service", then "arrival"
        self.wait_until = 0
        self.by_position = False  # what was chosen is not the oldest request but the nearest
        self.entries = 0
        self.places = 0
        self.joins = 0
        self.shared = 0  # the smallest share tag when one was last served from the rest
        self.turn = False  # the active one has its turn by share
        self.drains = False  # the queue has to be emptied: caps stop nobody

    def add(self, params: Params, now: int) -> Reservation:
        """A new reservation starts with a full burst."""
        flow = Reservation(params, self._time(now), now)
        with self._reweighing():
            self.flows.append(flow)
        return flow

    # Shares of the rest.

    def _given(self) -> bool:
        """Is there a weight."""
        return any(flow.params.weight for flow in self.flows)

    def weighs(self) -> bool:
        """Does the rest go by weights, which in an overload it does not."""
        return self._given() and not self._overloaded()

    @contextmanager
    def _reweighing(self) -> Iterator[None]:
        """A weight may change. With the first one all who are backlogged join, in their order."""
        backlogged = self._backlogged() if not self._given() else []
        yield
        if self._given():
            for flow in backlogged:
                self._join(flow)

    def _join(self, flow: Reservation) -> None:
        """It stands behind those with the same share tag, which is not in the past."""
        self.joins += 1
        flow.joined = self.joins
        if self._given() and flow.queue and not flow.stopped:
            flow.share = max(flow.share, Fraction(self.shared))

    def _spare(self, flow: Reservation) -> bool:
        """Would it be served from the rest, by weight, as it is not entitled."""
        return self.weighs() and flow is not self.background and flow.min_start() > self.v

    def _by_share(self) -> list[Reservation]:
        """Those with pending requests, the smallest share tag first."""
        return sorted((flow for flow in self.flows if flow.queue and not flow.stopped),
                      key=lambda flow: (floor(flow.share), flow.joined))

    def _in_share(self, flow: Reservation) -> bool:
        """May the active reservation go on, or be waited for: by right, or by its share."""
        if not self.weighs() or self.turn:
            return True
        start = flow.min_start() if flow.queue else flow.start(self.v, flow.cost)
        if start <= self.v:
            return True
        self.turn = self._is_first(flow)
        return self.turn

    def _is_first(self, flow: Reservation) -> bool:
        """Would the rest go to it next, whether or not its request is there."""
        return all(floor(flow.share) <= floor(other.share) for other in self._by_share())

    def _charge_share(self, flow: Reservation, cost: int) -> None:
        """Something of it was served from the rest."""
        smallest = min(floor(each.share) for each in [flow, *self._by_share()])
        self.shared = max(self.shared, smallest)
        weight = flow.params.weight or WEIGHT_DEFAULT
        flow.share = max(flow.share, Fraction(self.shared))
        flow.share += Fraction(cost * SECOND, weight * WEIGHT_RATE)

    # The paper's add_request().

    def arrive(self, flow: Reservation, request: Request, now: int) -> Arrival:
        """A request arrives. If the device was kept idle for it, that is over."""
        self.held = False
        hit = self.wait is not None and flow is self.active
        if hit:
            self.wait = None
        if flow.next_pos is not None and not flow.queue and not flow.in_flight:
            pause = min(now - flow.idle_since, 2 * self.t_wait)
            flow.think = (7 * flow.think + pause) // 8

        jump = self._adjust(now)
        v = now + self.drift
        if flow is self.background:
            request.tags = (Tag(v), Tag(v))
            if not flow.queue:
                self.background_due = now + BACKGROUND_AGE
        else:
            request.tags = flow.tag(self.v, request.cost)
            request.due = self._due(flow, request.start, now)
        conforming = flow is not self.background and request.start <= v
        request.conforming = conforming
        if conforming:
            for window in self.windows:
                window.hold(now)
        flow.queue.append(request)
        self.place(request)
        flow.cost = request.cost
        if len(flow.queue) == 1:
            flow.stopped = self._stops(flow, now)
            self._enter(flow)
        hurry = flow is not self.background and self._hurry()
        return Arrival(request.start, v, request.due, jump, conforming, hit, hurry)

    def _due(self, flow: Reservation, start: int, now: int) -> int:
        """When a request would be due that came at the moment the curve entitles it to come."""
        return now + max(0, start - (now + self.drift)) + flow.params.latency

    def _hurry(self) -> bool:
        """By the rule of slack a wait is no longer than the others can bear. Is it shorter now."""
        if self.rule == "paper" or self.wait != "arrival":
            return False
        before, self.wait_until = self.wait_until, min(self.wait_until, self._leave())
        return self.wait_until < before

    def _overloaded(self) -> bool:
        """An overload makes a difference to the rule of slack only."""
        return self.rule == "slack" and self.overload.now

    def _time(self, now: int) -> int:
        """The virtual time by which tags are given. In an overload it stands, as it was last."""
        if not self._overloaded():
            self.v = now + self.drift
        return self.v

    def _adjust(self, now: int) -> int:
        """check_and_adjust_tags(): if nobody who is backlogged conforms, virtual time jumps.

        In an overload, that by which tags are given moves on to the oldest pending start tag.
        By weights nobody owes for the rest that he used, and there is no jump.
        """
        starts = [flow.min_start() for flow in self._backlogged() if not self.weighs()]
        jump = max(0, min(starts) - (now + self.drift)) if starts else 0
        self.drift += jump
        self.v = max([self.v, *([min(starts)] if starts else [])])
        self._time(now)
        return jump

    def _enter(self, flow: Reservation) -> None:
        """It stands behind those that have the same finish tag."""
        self.entries += 1
        flow.entered = self.entries
        self._join(flow)

    # Caps.

    def _stops(self, flow: Reservation, now: int) -> bool:
        """Does its cap keep it from going on."""
        return flow.stopped and not self.drains and now < flow.go_on()

    def _charge_cap(self, flow: Reservation, cost: int, now: int) -> None:
        """Something of it is dispatched."""
        if not flow.params.max:
            return
        flow.cap = max(flow.cap, Fraction(now)) + Fraction(cost * SECOND, flow.params.max)
        if floor(flow.cap) > now + CAP_DEBT:
            flow.cap = Fraction(now + CAP_DEBT)
        flow.stopped = not self.drains and now < flow.go_on()

    def _stopped(self) -> list[Reservation]:
        """Those with pending requests that their caps stop, who may go on soonest first."""
        return sorted((flow for flow in self.flows if flow.queue and flow.stopped),
                      key=lambda flow: (floor(flow.cap), flow.entered))

    def alarm(self) -> int | None:
        """When the first of those who are stopped may go on."""
        return next((flow.go_on() for flow in self._stopped()), None)

    def release(self, now: int) -> Reservation | None:
        """One that was stopped for long enough goes on."""
        for flow in self._stopped()[:1]:
            if not self._stops(flow, now):
                self._let_go(flow)
                return flow
        return None

    def _let_go(self, flow: Reservation) -> None:
        """It is stopped no longer; if another is waited for, no longer than it bears."""
        flow.stopped = False
        self._enter(flow)
        self.held = False
        self._hurry()

    def cap(self, flow: Reservation, most: int, now: int) -> None:
        """It gets another cap, or none: 0. It goes on at once."""
        if flow.queue and flow.stopped:
            self._let_go(flow)
        flow.params = flow.params._replace(max=most)
        flow.cap, flow.stopped = Fraction(now), False

    def drain(self, drains: bool) -> bool:
        """The queue has to be emptied, or no longer. True if that is news."""
        before, self.drains = self.drains, drains
        return before != drains

    # The paper's dispatch_request().

    def choose(self, now: int) -> Choice:
        """The active reservation while it may keep the device, then the smallest F."""
        timed_out = self.timeout(now)
        if not self.work():
            return Choice(None, 0, False, False, timed_out)
        relieved = self.overload.now and self._in_time(now)
        if relieved:
            self.overload.end()
        jump = self._adjust(now)
        stays = self._stays(now)
        if self.wait:
            return Choice(None, jump, False, True, timed_out, relieved)
        chosen = self.active if stays else self._first(now)
        if not self._lets(chosen, now):
            chosen, stays = self._passes(now), False
        self.held = chosen is None
        if self.held:
            return Choice(None, jump, False, False, timed_out, relieved, True)
        self.by_position = stays and self._sweeps(now)
        switched = not stays and self._grant(chosen, now)
        return Choice(chosen, jump, switched, False, timed_out, relieved,
                      nearest=self.by_position)

    def _grant(self, flow: Reservation, now: int) -> bool:
        """The device is another's from now on, or nobody's if the background has it."""
        if flow is self.background:
            self.background_due = now + BACKGROUND_AGE
        self.turn = self._spare(flow)
        active = None if flow is self.background else flow
        switched = active is not self.active
        self.active, self.run, self.run_since = active, 0, now
        return switched

    def _lets(self, flow: Reservation, now: int) -> bool:
        """May the device have its oldest request now. By the rule of slack, not if it is too much.

        A conforming one it always may. A device that serves first what it reaches first might go
        past those that conform for every other request that it gets.
        """
        if self.rule == "paper" or flow.queue[0].conforming:
            return True
        worst = now + (self.in_flight + 1) * self.service.seek
        if any(due < worst for due in self.urgent):
            return False
        write = flow.queue[0].write
        return self.windows[write].open(self._of_kind(write), now)

    def _of_kind(self, write: bool) -> int:
        """How many of those in flight write, or don't."""
        return self.writes if write else self.in_flight - self.writes

    def _passes(self, now: int) -> Reservation | None:
        """Who goes while whose turn it is, is held back: the next who isn't.

        Not on a device that seeks, where it would end runs.
        """
        others = [] if self.reorders else self._turns(HEADS)
        return next((flow for flow in others if self._lets(flow, now)), None)

    def work(self) -> bool:
        """Is anything pending and not held back, and the device not kept idle."""
        return self.wait is None and not self.held and any(
            flow.queue and not flow.stopped for flow in [*self.flows, self.background])

    def _first(self, now: int) -> Reservation:
        """Whose turn it is next, or the background if it is its."""
        turns = self._turns()
        if self.background.queue and (not turns or now >= self.background_due):
            return self.background
        return turns[0]

    def _turns(self, most: int | None = None) -> list[Reservation]:
        """Who goes before whom: the smallest F, among equals who came first; look at so many.

        By weights, the smallest F of those who are entitled, and then the smallest share tag.
        """
        backlogged = self._backlogged()[:most]
        if not self.weighs():
            return backlogged
        entitled = [flow for flow in backlogged if flow.min_start() <= self.v]
        return [*entitled, *self._by_share()[:most]]

    def _backlogged(self) -> list[Reservation]:
        """Those with pending requests, the smallest F first."""
        return sorted((flow for flow in self.flows if flow.queue and not flow.stopped),
                      key=lambda flow: (flow.finish(), flow.entered))

    def _stays(self, now: int) -> bool:
        """May the active reservation keep the device? Sets `wait` if it has nothing pending."""
        flow = self.active
        if flow is None or self._stops(flow, now):
            return False
        if self.run >= self.b_max or (
                self.rule == "slack" and now >= self.run_since + self._long()):
            if not (self.weighs() and self.turn and self._is_first(flow)):
                return False
            self.run, self.run_since = 0, now
        if self.rule == "slack" and now >= self._leave():
            return False
        if not flow.sequential() and not self._sweeps(now):
            return False
        return self._in_share(flow) and (bool(flow.queue) or self._waits(flow, now))

    def _sweeps(self, now: int) -> bool:
        """Does the active reservation's next request by position go before its oldest.

        It is nearer if the device seeks, and if that has others it chooses itself. The oldest goes
        first, and then each sixteenth time, and if it conforms as long as anybody could be late.
        """
        flow = self.active
        if self.rule == "paper" or not self.reorders or self.in_flight:
            return False
        if len(flow.queue) < 2 or self.run % SWEEP == 0:
            return False
        if self._overloaded() or not flow.queue[0].conforming:
            return True
        return now < self._bearable(self._backlogged()[:HEADS], now + RUN_MAX)

    def _waits(self, flow: Reservation, now: int) -> bool:
        """Is the device kept for it, though it has nothing pending? Sets `wait` if so."""
        if not flow.sequential():
            return False
        if not flow.sync or flow.in_flight > 1 or flow.think >= self.t_wait:
            return False
        if flow.in_flight:
            self.wait = "service"
            self.wait_until = now + flow.params.latency + self.t_wait
            return True
        if now >= flow.idle_since + self._patience(flow):
            return False
        self._await(flow)
        return True

    def _leave(self) -> int:
        """Before when the active reservation's next request must begin, by the rule of slack."""
        end = self.run_since + self._long()
        return end if self._overloaded() else self._slack(end)

    def _long(self) -> int:
        """How long a run is at most, by the rule of slack."""
        short = self._overloaded() or self.weighs()
        return SHORT_RUN * self.service.seek if short else RUN_MAX

    def _slack(self, end: int) -> int:
        """Until when the others can wait."""
        return self._bearable([flow for flow in self._backlogged()[:HEADS]
                               if flow is not self.active], end)

    def _bearable(self, flows: list[Reservation], end: int) -> int:
        """Until when these can wait."""
        heads = [(flow.due(flow.queue[0]), flow.burst()) for flow in flows]
        return bearable(heads, self.service.seek, self.in_flight, end)

    def _in_time(self, now: int) -> bool:
        """Can all that is pending be served in time."""
        active = self.active
        late = active is not None and active.queue and active.due(active.queue[0]) < now
        return not late and now < self._slack(now + RUN_MAX)

    def _patience(self, flow: Reservation) -> int:
        """How long its next request is worth waiting for, from the completion of its last one.

        By the paper T_wait; by the rule of slack four times its mean think time, though a sixteenth
        of T_wait at least.
        """
        if self.rule == "paper":
            return self.t_wait
        return min(max(4 * flow.think, self.t_wait // 16), self.t_wait)

    def _await(self, flow: Reservation) -> None:
        """Keep the device idle for its next request."""
        self.wait, self.wait_until = "arrival", flow.idle_since + self._patience(flow)
        self._hurry()

    def pick(self, flow: Reservation) -> Request:
        """The request of the chosen reservation that goes."""
        return flow.nearest() if self.by_position else flow.queue[0]

    def dispatch(self, flow: Reservation, now: int) -> tuple[Request, bool]:
        """The request that was picked goes to the device. Also, did an overload begin."""
        request = self.pick(flow)
        spare = self._spare(flow)
        take(flow.queue, request)
        request.due = flow.due(request)
        follows = flow.next_pos is not None and 0 <= request.pos - flow.next_pos <= SEQ_GAP
        flow.history = [*flow.history[1:], follows]
        flow.next_pos = request.pos + request.sectors
        if self.by_position:
            flow.sweep = flow.next_pos
        flow.sync = request.sync
        turn = flow is not self.background and not self.run
        near = follows or self.by_position
        self._begin(flow, request, now, near and flow is self.active and self.run > 0)
        if flow is self.active:
            self.run += 1
        overload = turn and self.overload.learn(request.due < now)
        if spare and self.weighs():
            self._charge_share(flow, request.cost)
            flow.refund(request, self.v)
        self._charge_cap(flow, request.cost, now)
        self._enter(flow)
        return request, overload

    def _begin(self, flow: Reservation, request: Request, now: int, streaming: bool) -> None:
        """The device has one request more."""
        request.sent = now
        if not self.in_flight:
            self.service.begin(now, streaming)
        self.in_flight += 1
        flow.in_flight += 1
        self.writes += request.write
        if self.reorders and request.conforming and len(self.urgent) < URGENT_MAX:
            self.urgent.append(request.due)

    # What else happens to requests.

    def complete(self, flow: Reservation, request: Request, now: int) -> bool:
        """A dispatched request completed. True if the device is kept idle from now on."""
        if request.conforming and request.sent < request.due:
            for write, window in enumerate(self.windows):
                window.judge(self._of_kind(bool(write)), now - request.sent,
                             request.due - request.sent)
        self._end(flow, request)
        self.service.end(now)
        flow.idle_since = now
        if flow is not self.active or self.wait != "service":
            return False
        self._await(flow)
        return True

    def _end(self, flow: Reservation, request: Request) -> None:
        """The device has one request less."""
        self.in_flight -= 1
        flow.in_flight -= 1
        self.writes -= request.write
        if self.reorders and request.conforming and request.due in self.urgent:
            self.urgent.remove(request.due)
        if not self.in_flight:
            self.urgent.clear()
        self.held = False

    def timeout(self, now: int) -> bool:
        """A wait for an arrival ends T_wait after the completion. True if it does now.

        One for a completion ends when that is very late.
        """
        return self.wait is not None and now >= self.wait_until and self.cancel_wait()

    def cancel_wait(self) -> bool:
        """Wait no longer. True if a wait ended; nobody is active then."""
        self.held = False
        if self.wait is None:
            return False
        self.wait = self.active = None
        return True

    def merge(self, flow: Reservation, kept: Request, gone: Request) -> None:
        """One pending request swallows another; if that had earlier tags, its place is its own."""
        if gone.start < kept.start:
            flow.queue.remove(kept)
            flow.queue.insert(flow.queue.index(gone), kept)
            kept.tags = gone.tags
        kept.due = min(kept.due, gone.due)
        kept.conforming |= gone.conforming
        self.remove(flow, gone)

    def remove(self, flow: Reservation, gone: Request) -> None:
        """A pending request is pending no more: a request of another reservation swallowed it."""
        flow.queue.remove(gone)
        self._enter(flow)

    def place(self, request: Request) -> None:
        """It comes to its position, where it stands behind others."""
        self.places += 1
        request.placed = self.places

    def charge(self, flow: Reservation, size: int, now: int) -> None:
        """Bytes without a tag: merged into a pending request, so no operation."""
        flow.bytes.arrive(self._time(now), size)

    def bypass(self, flow: Reservation, size: int, now: int) -> None:
        """A request without a tag is sent past us: by right, or from the rest."""
        v = self._time(now)
        if not self.weighs() or flow is self.background or flow.start(v, size) <= v:
            flow.bytes.pass_by(v, size)
            flow.ops.pass_by(v, 1)
        else:
            self._charge_share(flow, size)
            if flow.queue:
                self._join(flow)
        if flow.params.max:
            self._charge_cap(flow, size, now)
            self._enter(flow)

    def requeue(self, flow: Reservation, request: Request) -> bool:
        """The driver gave a request back; nothing is held for it. True if a wait ended."""
        self._end(flow, request)
        return flow is self.active and self.cancel_wait()

    def resume(self, flow: Reservation, request: Request, now: int) -> None:
        """A request that was given back, or inserted at the head, is dispatched past us."""
        self._begin(flow, request, now, False)

    # What happens to reservations.

    def configure(self, flow: Reservation, params: Params, now: int) -> None:
        """It promises something else: fresh curves, on which no pending request loses."""
        before = (flow.min_start(), flow.finish()) if flow.queue else None
        v = self._time(now)
        self.weigh(flow, params.weight)
        self.cap(flow, params.max, now)
        flow.promise(params, v)
        for request in flow.queue:
            was, tags = request.start, flow.tag(v, request.cost)
            due = self._due(flow, max(tag.start for tag in tags), now)
            request.tags = tuple(tag._replace(start=min(tag.start, was)) for tag in tags)
            request.due = min(request.due, due)
        if flow.queue and before != (flow.min_start(), flow.finish()):
            self._enter(flow)

    def weigh(self, flow: Reservation, weight: int) -> None:
        """It gets another weight, or none: 0."""
        if weight != flow.params.weight:
            flow.share = Fraction(floor(flow.share))
        with self._reweighing():
            flow.params = flow.params._replace(weight=weight)

    def forget(self, flow: Reservation) -> bool:
        """It goes away, with nothing pending or in flight. True if a wait ended."""
        self.flows.remove(flow)
        if flow is not self.active:
            return False
        waited, self.wait, self.active = self.wait is not None, None, None
        return waited

    def jump(self, to: int, now: int) -> None:
        """Let the virtual clock jump while nobody is backlogged, as others' floods would."""
        self.drift += max(0, to - now - self.drift)
