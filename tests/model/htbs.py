"""HTBS as an executable specification, written from the design and the paper, not from the C.

It is slow and plain on purpose: integers have no limit, time never wraps, the theoretical arrival
time is an exact fraction, and each search looks at all flows.

Units: bytes, bytes per second, nanoseconds, sectors. A tag is a whole number of nanoseconds; where
the curve gives a fraction, tat and tau are each rounded down before they are subtracted.
"""

from fractions import Fraction
from typing import NamedTuple

from tests.model.reservation import Params, Request, Reservation, Tag, take
from tests.model.run import Runs
from tests.model.slack import EXPIRE, HEADS

SEQ_GAP = 128  # sectors that a sequential request may leave out


class Arrival(NamedTuple):
    """What the policy made of an arrival."""

    start: int
    v: int
    due: int
    jump: int
    conforming: bool
    hit: bool
    wait_shortened: bool


class Choice(NamedTuple):
    """The flow to dispatch a request of; None: of none."""

    flow: object
    jump: int
    switched: bool
    wait_began: bool
    timed_out: bool
    overload_ended: bool = False
    held: bool = False
    nearest: bool = False


class Policy(Runs):
    """The scheduler of one device. `now` is real time and never falls."""

    def __init__(self, b_max: int, t_wait: int, rule: str = "paper", seek: int = 0,
                 rotational: bool = False):
        super().__init__(b_max, t_wait, rule, seek, rotational)
        self.expired_at: int | None = None  # when an expired head was chosen last
        self.by_position = False  # the choice is the nearest request, not the oldest
        self.places = 0

    # The paper's add_request().

    def arrive(self, flow: Reservation, request: Request, now: int) -> Arrival:
        """A request arrives. A wait for a request of its flow ends."""
        self.held = False
        if request.arrived is None:
            request.arrived = now
        hit = self.wait is not None and flow is self.active
        if hit:
            self.wait = None
        if flow.next_pos is not None and not flow.queue and not flow.in_flight:
            pause = min(now - flow.idle_since, 2 * self.t_wait)
            flow.think = (7 * flow.think + pause) // 8

        jump = self._advance_clock(now)
        v = now + self.drift
        if flow is self.background:
            request.tags = (Tag(v), Tag(v))
            if not flow.queue:
                self._defer_background(now)
        else:
            request.tags = flow.arrive(self.v, request.cost)
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
            flow.throttled = self._throttles(flow, now)
            self._link(flow)
        wait_shortened = flow is not self.background and self._limit_wait()
        return Arrival(request.start, v, request.due, jump, conforming, hit, wait_shortened)

    def _due(self, flow: Reservation, start: int, now: int) -> int:
        """When a request is due: a latency after the curve entitles it to arrive."""
        return now + max(0, start - (now + self.drift)) + flow.params.latency

    def _advance_clock(self, now: int) -> int:
        """check_and_adjust_tags(): if no backlogged flow conforms, the virtual clock jumps.

        In an overload `v` moves on to the smallest pending start tag, unless the next request of
        the active flow is expected to have a smaller one. With weights surplus is refunded, so the
        clock does not jump.
        """
        starts = [flow.min_start() for flow in self._backlogged() if not self.weighted()]
        jump = max(0, min(starts) - (now + self.drift)) if starts else 0
        self.drift += jump
        if starts and not self._expects(min(starts)):
            self.v = max(self.v, min(starts))
        self._update_time(now)
        return jump

    # Caps.

    def unthrottle(self, now: int) -> Reservation | None:
        """Unthrottle the first throttled flow, if its time has come; that flow or None."""
        for flow in self._throttled()[:1]:
            if not self._throttles(flow, now):
                self._unthrottle(flow)
                return flow
        return None

    def _unthrottle(self, flow: Reservation) -> None:
        """The flow is backlogged again. A wait for another flow is cut to the slack of this one."""
        flow.throttled = False
        self._link(flow)
        self.held = False
        self._limit_wait()

    def set_cap(self, flow: Reservation, most: int, now: int) -> None:
        """Set the cap of a flow, 0: none. A throttled flow is unthrottled."""
        if flow.queue and flow.throttled:
            self._unthrottle(flow)
        flow.params = flow.params._replace(max=most)
        flow.cap, flow.throttled = Fraction(now), False

    # The paper's dispatch_request().

    def choose(self, now: int) -> Choice:
        """Choose the active flow while it may keep the device, then the smallest finish tag."""
        timed_out = self.timeout(now)
        if not self.has_work():
            return Choice(None, 0, False, False, timed_out)
        overload_ended = self.overload.now and self._in_time(now)
        if overload_ended:
            self.overload.end()
        jump = self._advance_clock(now)
        chosen, stays = self._expired(now), False
        if chosen is None:
            stays = self._keep_active(now)
            if self.wait:
                return Choice(None, jump, False, True, timed_out, overload_ended)
            chosen = self.active if stays else self._first(now)
            if not self._can_dispatch(chosen, now):
                chosen, stays = self._next_dispatchable(now), False
        self.held = chosen is None
        if self.held:
            return Choice(None, jump, False, False, timed_out, overload_ended, True)
        self.by_position = stays and self._sweeps(now)
        switched = not stays and self._set_active(chosen, now)
        return Choice(chosen, jump, switched, False, timed_out, overload_ended,
                      nearest=self.by_position)

    def _expired(self, now: int) -> Reservation | None:
        """The flow with the oldest head, if that has been pending for EXPIRE.

        After each expired head the others have the device for two seeks.
        """
        waiting = [*self._backlogged(), *([self.background] if self.background.queue else [])]
        oldest = min(waiting, key=Reservation.waits_since)
        if now < oldest.waits_since() + EXPIRE or (
                self.expired_at is not None and now - self.expired_at < 2 * self.service.seek):
            return None
        self.expired_at = now
        return oldest

    def _set_active(self, flow: Reservation, now: int) -> bool:
        """Make a flow active, or none for the background. True if the active flow changed."""
        if flow is self.background:
            self._defer_background(now)
        self.turn = self._is_surplus(flow)
        active = None if flow is self.background else flow
        switched = active is not self.active
        self.active, self.run, self.run_since = active, 0, now
        self._update_crowded(now)
        return switched

    def _next_dispatchable(self, now: int) -> Reservation | None:
        """The flow to dispatch instead of one that is held back; eligible heads come first.

        A rotational device gets no surplus of another flow, as that would end a run.
        """
        others = [*self._eligible(now)[:1], *([] if self.rotational else self._next_flows(HEADS))]
        return next((flow for flow in others if self._can_dispatch(flow, now)), None)

    def has_work(self) -> bool:
        """Is a request pending, not throttled and not held back, and the device not kept idle."""
        return self.wait is None and not self.held and any(
            flow.queue and not flow.throttled for flow in [*self.flows, self.background])

    def _first(self, now: int) -> Reservation:
        """The next flow if none is active, or the background."""
        turns = [*self._next_flows(), *self._backlogged()]
        if not turns or self._background_eligible(now):
            return self.background
        return turns[0]

    def pick(self, flow: Reservation) -> Request:
        """The request of the chosen flow that is dispatched."""
        return flow.nearest() if self.by_position else flow.queue[0]

    def dispatch(self, flow: Reservation, now: int) -> tuple[Request, bool]:
        """Dispatch the request that `pick()` names. Also, did an overload begin."""
        request = self.pick(flow)
        spare = self._is_surplus(flow)
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
        self._inflight_add(flow, request, now, near and flow is self.active and self.run > 0)
        if flow is self.active:
            self.run += 1
        overload = turn and self.overload.account(request.due < now + self._least_left(flow))
        if flow is not self.background:
            flow.advance_pace(now, request.cost)
        if spare and self.weighted():
            self._share_charge(flow, request.cost)
            flow.refund(request, self.v)
        self._cap_charge(flow, request.cost, now)
        self._link(flow)
        return request, overload

    # What else happens to requests.

    def complete(self, flow: Reservation, request: Request, now: int) -> bool:
        """A dispatched request completed. True if the device is kept idle from now on."""
        if request.conforming and request.sent < request.due:
            for write, window in enumerate(self.windows):
                window.update(self._in_flight(bool(write)), now - request.sent,
                             request.due - request.sent)
        self._inflight_remove(flow, request)
        self._device_share_charge(flow, self.service.end(now))
        flow.idle_since = now
        if flow is self.active:
            self.turn_until = min(self.turn_until, now + self.service.turn)
        if flow is not self.active or self.wait != "service":
            return False
        self._begin_wait(flow)
        return True

    def merge(self, flow: Reservation, kept: Request, gone: Request) -> None:
        """Merge the pending request `gone` into `kept`, which takes the earlier of both tags."""
        if gone.start < kept.start:
            flow.queue.remove(kept)
            flow.queue.insert(flow.queue.index(gone), kept)
            kept.tags = gone.tags
        kept.due = min(kept.due, gone.due)
        kept.arrived = min(kept.arrived, gone.arrived)
        kept.conforming |= gone.conforming
        self.remove(flow, gone)

    def remove(self, flow: Reservation, gone: Request) -> None:
        """A request is no longer pending: it was merged, or it passes a cap."""
        flow.queue.remove(gone)
        self._link(flow)

    def place(self, request: Request) -> None:
        """A request is inserted by position, behind those with the same position."""
        self.places += 1
        request.placed = self.places

    def charge(self, flow: Reservation, size: int, now: int) -> None:
        """Charge bytes that a bio added to a pending request; no operation is charged."""
        flow.bytes.arrive(self._update_time(now), size)

    def charge_bypass(self, flow: Reservation, size: int, now: int) -> None:
        """Charge a request without a tag that bypasses the policy: reserved work, or surplus."""
        v = self._update_time(now)
        if not self.weighted() or flow is self.background or flow.start(v, size) <= v:
            flow.bytes.charge_untagged(v, size)
            flow.ops.charge_untagged(v, 1)
        else:
            self._share_charge(flow, size)
            if flow.shares:
                self._share_link(flow)
        if flow.params.max:
            self._cap_charge(flow, size, now)
            self._link(flow)

    def requeue(self, flow: Reservation, request: Request) -> bool:
        """The driver gave a request back. True if a wait for its flow ended."""
        self._inflight_remove(flow, request)
        return flow is self.active and self.cancel_wait()

    def redispatch(self, flow: Reservation, request: Request, now: int) -> None:
        """A request that was requeued, or inserted at the head, bypasses the policy."""
        self._inflight_add(flow, request, now, False)

    # What happens to reservations.

    def configure(self, flow: Reservation, params: Params, now: int) -> None:
        """Change a reservation. The curves start afresh; pending tags only move back."""
        before = (flow.min_start(), flow.finish()) if flow.queue else None
        v = self._update_time(now)
        self.set_weight(flow, params.weight)
        self.set_cap(flow, params.max, now)
        flow.init_curves(params, v)
        flow.pace = now
        for request in flow.queue:
            was, tags = request.start, flow.arrive(v, request.cost)
            due = self._due(flow, max(tag.start for tag in tags), now)
            request.tags = tuple(tag._replace(start=min(tag.start, was)) for tag in tags)
            request.due = min(request.due, due)
        if flow.queue and before != (flow.min_start(), flow.finish()):
            self._link(flow)

    def exit_flow(self, flow: Reservation) -> bool:
        """A flow with nothing pending or in flight goes away. True if a wait for it ended."""
        self.flows.remove(flow)
        if flow is not self.active:
            return False
        waited, self.wait, self.active = self.wait is not None, None, None
        return waited

    def clock_advance(self, to: int, now: int) -> None:
        """Let the virtual clock jump while no flow is backlogged, as floods of others would."""
        self.drift += max(0, to - now - self.drift)
