"""The C against the specification, in lockstep: same tags, same choice at every step.

An example is a set-up (a clock anywhere in 64 bits, reservations anywhere in their range) and a
script of events. Both sides get the same events; after each event all decisions are compared. An
event that is impossible at its moment (nothing pending, nothing in flight) does nothing, so every
script is valid and a failing one shrinks well.
"""

from copy import copy
from math import floor

from hypothesis import given
from hypothesis import strategies as st

from tests.model.htbs import Policy
from tests.model.reservation import Params, Request
from tests.unit.host import WRAP, Device
from tests.unit.strategies import (
    BURST,
    BW,
    CAP,
    IOPS,
    LATENCY,
    WEIGHT,
    any_promise,
    b_maxs,
    clocks,
    examples,
    lists,
    rules,
    seeks,
    t_waits,
    with_operations,
)

FLOWS = 3
BACKGROUND = FLOWS
ERA = 1 << 62

which = st.sampled_from([0, 0, 0, 0, 1, 1, 2, BACKGROUND])
sizes = st.sampled_from([0, 512, 4096, 4608, 65536, 1 << 20, (1 << 32) - 512])
gaps = st.sampled_from([0, 0, 0, 0, 8, 128, 129, -8, 1 << 20])
times = st.sampled_from([0, 1, 999, 10**6, 9_999_999, 10**7, 10**7 + 1, 10**9, 10**12, 1 << 50])
pauses = st.sampled_from([0, 1, 10**6, 10**7, 3 * 10**7, 5 * 10**7, 10**9])
places = st.integers(0, 7)

events = st.one_of(
    st.tuples(st.just("arrive"), which, sizes, gaps, st.booleans(), st.booleans()),
    st.tuples(st.just("read_on"), which, st.integers(1, 12)),
    st.tuples(st.just("expect"), which, which, pauses),
    st.tuples(st.just("burst"), which, st.integers(2, 8), st.booleans()),
    st.tuples(st.just("sweep"), which, st.integers(2, 24)),
    st.tuples(st.just("struggle"), pauses, st.integers(1, 20)),
    st.tuples(st.just("struggle"), st.just(10**9), st.integers(10, 20)),
    st.tuples(st.just("serve"), st.booleans()),
    st.tuples(st.just("serve"), st.just(True)),
    st.tuples(st.just("complete"), which),
    st.tuples(st.just("let_pass"), times),
    st.tuples(st.just("wait_out"), st.integers(-1, 1), st.booleans()),
    st.tuples(st.just("requeue"), which),
    st.tuples(st.just("redispatch"), which),
    st.tuples(st.just("merge"), which, places, places),
    st.tuples(st.just("charge"), which, sizes),
    st.tuples(st.just("charge_bypass"), which, sizes),
    st.tuples(st.just("configure"), which, any_promise),
    st.tuples(st.just("set_weight"), which, st.sampled_from(WEIGHT)),
    st.tuples(st.just("replace"), which, any_promise),
    st.tuples(st.just("set_cap"), which, st.sampled_from(CAP)),
    st.tuples(st.just("unthrottle"), st.integers(-1, 1)),
    st.tuples(st.just("drain"), st.sampled_from([False, False, True])),
    st.tuples(st.just("cancel_wait")),
    st.tuples(st.just("set_rule"), rules),
    st.tuples(st.just("clock_advance"), st.integers(0, ERA - (1 << 51)), st.integers(1, 5)),
)
scripts = lists(events, 80)
set_ups = st.tuples(clocks, st.tuples(b_maxs, t_waits, rules, seeks, st.booleans()),
                    st.lists(any_promise, min_size=FLOWS, max_size=FLOWS))


class Lockstep:
    """The C and the specification, side by side. Its public methods are the events."""

    def __init__(self, lib, clock, knobs, promises):
        self.now, drift = clock
        *rest, reorders = knobs
        self.c, self.spec = Device(lib, *rest), Policy(*knobs)
        self.c.set_rotational(reorders)
        self.c.clock.drift = self.spec.drift = drift
        self._pairs = [self._init_flows(promise) for promise in promises]
        self._pairs.append((self.c.background, self.spec.background))
        self._ends = [0] * len(self._pairs)
        self._in_flight = [[] for _ in self._pairs]  # requests, of the C and of the specification

    def play(self, script) -> None:
        """Play a script and compare after each event."""
        self._compare()
        for name, *arguments in script:
            getattr(self, name)(*arguments)
            self._compare()

    def _init_flows(self, promise: Params):
        return self.c.init_flow(promise, self.now), self.spec.init_flow(promise, self.now)

    def _index(self, flow) -> int | None:
        return next((i for i, pair in enumerate(self._pairs) if flow in pair), None)

    def _compare(self) -> None:
        view = self.c.view()
        assert self.c.clock.drift == self.spec.drift % WRAP
        assert self._index(view.active) == self._index(self.spec.active)
        assert view.wait == self.spec.wait
        assert view.has_work == self.spec.has_work()
        assert view.busy == sum(bool(spec.queue or spec.in_flight) for _, spec in self._pairs)
        if view.active:
            assert view.run == self.spec.run
        self._compare_service()
        at = self.spec.next_unthrottle()
        assert self.c.next_unthrottle() == (None if at is None else at % WRAP)
        assert view.shared == self.spec.shared % WRAP
        assert view.background_due == self.spec.background_due % WRAP
        if view.wait:
            assert view.wait_until == self.spec.wait_until % WRAP
        if view.wait == "arrival":
            assert self.spec.wait_until - self.now <= self.spec.t_wait
        for c, spec in self._pairs:
            state = c.view()
            assert state.pending == len(spec.queue) == len(c.queue)
            assert state.in_flight == spec.in_flight
            assert state.think == spec.think
            assert state.throttled == spec.throttled
            if spec.params.max:
                assert state.cap_end == spec.cap_end() % WRAP
            if spec.queue and spec is not self.spec.background:
                assert state.burst == spec.burst()
                assert state.eligible == spec.eligible() % WRAP
                assert state.finish == spec.finish() % WRAP
                if self.spec.weighted():
                    assert state.share == floor(spec.share) % WRAP
            assert [c.start_tag(r) for r in c.queue] == [r.start % WRAP for r in spec.queue]
            assert [r.due for r in c.queue] == [r.due % WRAP for r in spec.queue]

    def _compare_service(self) -> None:
        assert self.c.service.seek == self.spec.service.seek
        assert self.c.service.turn == self.spec.service.turn
        got, want = self.c.overload, self.spec.overload
        assert (got.late, got.now) == (want.late, want.now)
        for got, want in zip(self.c.windows, self.spec.windows, strict=True):
            assert (got.limit, got.full) == (want.limit, want.full)

    def _both(self, name, i=None, *arguments):
        """Call both sides; the results are the same."""
        flows = ((), ()) if i is None else ((self._pairs[i][0],), (self._pairs[i][1],))
        got = getattr(self.c, name)(*flows[0], *arguments)
        assert got == getattr(self.spec, name)(*flows[1], *arguments)

    def _busy(self) -> list[int]:
        return [i for i, (_, spec) in enumerate(self._pairs) if spec.in_flight]

    def arrive(self, i, size, gap=0, sync=True, write=False) -> None:
        """A request arrives, `gap` sectors after the end of the one before."""
        c, spec = self._pairs[i]
        before = spec.queue[-1].start if spec.queue else None
        request = Request(size, max(0, self._ends[i] + gap), sync, write=write)
        self._ends[i] = request.pos + request.sectors
        want = self.spec.arrive(spec, copy(request), self.now)
        got = self.c.arrive(c, request, self.now)
        assert got == want._replace(start=want.start % WRAP, v=want.v % WRAP,
                                    due=want.due % WRAP)
        assert before is None or before <= want.start, "S fell"

    def serve(self, complete) -> None:
        """Choose a flow and, if there is one, dispatch a request; perhaps complete it at once."""
        self._unthrottle()
        got, want = self.c.choose(self.now), self.spec.choose(self.now)
        i = self._index(want.flow)
        assert got._replace(flow=self._index(got.flow)) == want._replace(flow=i)
        if i is None:
            return
        c, spec = self._pairs[i]
        got, want = self.c.dispatch(c, self.now), self.spec.dispatch(spec, self.now)
        assert (got[0].pos, got[1]) == (want[0].pos, want[1])
        self._in_flight[i].append((got[0], want[0]))
        if complete:
            self._end("complete", i, self.now)

    def _end(self, how, i, *arguments) -> None:
        """The oldest request in flight of a flow completes, or is given back."""
        c, spec = self._in_flight[i].pop(0)
        flows = self._pairs[i]
        got = getattr(self.c, how)(flows[0], c, *arguments)
        assert got == getattr(self.spec, how)(flows[1], spec, *arguments)

    def read_on(self, i, count) -> None:
        """Sequential synchronous reads, one at a time."""
        for _ in range(count):
            self.arrive(i, 4096)
            self.serve(True)

    def burst(self, i, count, write) -> None:
        """Scattered requests arrive at once."""
        for _ in range(count):
            self.arrive(i, 4096, gap=1 << 20, write=write)

    def sweep(self, i, count) -> None:
        """Requests at alternating positions arrive at once and are served one at a time."""
        for n in range(count):
            self.arrive(i, 4096, gap=(n % 3 - 1) << 20)
        for _ in range(count):
            self.serve(True)

    def expect(self, i, other, pause) -> None:
        """The last of some sequential reads takes `pause`; a request of another flow is pending."""
        self.read_on(i, 6)
        self.arrive(i, 4096)
        self.serve(False)
        self.arrive(other, 4096, gap=1 << 20)
        self.serve(False)
        self.let_pass(pause)
        self.complete(0)

    def struggle(self, pause, count) -> None:
        """All flows are backlogged, and the device is slow."""
        for n in range(count):
            self.arrive(n % FLOWS, 4096)
            self.let_pass(pause)
            self.serve(True)

    def complete(self, n) -> None:
        """A request in flight completes."""
        if busy := self._busy():
            self._end("complete", busy[n % len(busy)], self.now)

    def requeue(self, n) -> None:
        """The driver gives a request back."""
        if busy := self._busy():
            self._end("requeue", busy[n % len(busy)])

    def redispatch(self, i) -> None:
        """A request bypasses the policy."""
        c, spec = Request(4096), Request(4096)
        self.c.redispatch(self._pairs[i][0], c, self.now)
        self.spec.redispatch(self._pairs[i][1], spec, self.now)
        self._in_flight[i].append((c, spec))

    def let_pass(self, time) -> None:
        """Nothing happens for a while."""
        self.now += time

    def wait_out(self, later, timer) -> None:
        """Time passes until about the end of a wait; the idle timer may fire."""
        if self.spec.wait:
            self.now = max(self.now, self.spec.wait_until + later)
        if timer:
            self._both("timeout", None, self.now)

    def unthrottle(self, later) -> None:
        """Time passes until about the end of a throttling; the cap timer fires."""
        at = self.spec.next_unthrottle()
        if at is not None:
            self.now = max(self.now, at + later)
        self._unthrottle()

    def _unthrottle(self) -> None:
        """Unthrottle all flows that are throttled no longer."""
        while (want := self.spec.unthrottle(self.now)) is not None:
            assert self._index(self.c.unthrottle(self.now)) == self._index(want)
        assert self.c.unthrottle(self.now) is None

    def drain(self, drains) -> None:
        """The queue has to be emptied, or no longer has to."""
        self._both("drain", None, drains)
        self._unthrottle()

    def set_cap(self, i, most) -> None:
        """The cap of a flow changes."""
        if i != BACKGROUND:
            self._both("set_cap", i, most, self.now)

    def cancel_wait(self) -> None:
        """A tunable changes, which ends a wait."""
        self._both("cancel_wait")

    def set_rule(self, rule) -> None:
        """The tunable `policy` changes."""
        self.c.set_rule(rule)
        self.spec.rule = rule

    def merge(self, i, kept, gone) -> None:
        """A pending request is merged into another one."""
        c, spec = self._pairs[i]
        kept, gone = (n % max(1, len(c.queue)) for n in (kept, gone))
        if kept != gone:
            self.c.merge(c, c.queue[kept], c.queue[gone])
            self.spec.merge(spec, spec.queue[kept], spec.queue[gone])

    def charge(self, i, size) -> None:
        """A bio is merged into a pending request."""
        self._both("charge", i, size, self.now)

    def charge_bypass(self, i, size) -> None:
        """A request that bypasses the policy is charged."""
        self._both("charge_bypass", i, size, self.now)

    def configure(self, i, promise: Params) -> None:
        """A reservation changes."""
        if i != BACKGROUND:
            self._both("configure", i, promise, self.now)

    def set_weight(self, i, weight) -> None:
        """The weight of a flow changes."""
        if i != BACKGROUND:
            self._both("set_weight", i, weight)

    def replace(self, i, promise: Params) -> None:
        """A flow exits and another one is created."""
        _, spec = self._pairs[i]
        if i != BACKGROUND and not spec.queue and not spec.in_flight:
            self._both("exit_flow", i)
            self._pairs[i] = self._init_flows(promise)

    def clock_advance(self, length, times) -> None:
        """Floods of other flows move the virtual clock ahead while none here is backlogged.

        Not in an overload, in which they would move `v` ahead, too.
        """
        if not self.spec.overload.now and not any(spec.queue for _, spec in self._pairs):
            for _ in range(times):
                self._both("clock_advance", None, self.now + self.spec.drift + length, self.now)


@examples(600)
@given(set_up=set_ups, script=scripts)
def test_same_tags_and_choices(lib, set_up, script):
    """Same tags to the nanosecond; same choice at every step; S never falls."""
    Lockstep(lib, *set_up).play(script)


# A script takes real time, virtual time or both from these moments past the end of 64 bits.
_ends = st.integers(WRAP - 10**10, WRAP - 1)
wrapping = st.one_of(st.tuples(_ends, st.just(0)), st.tuples(st.just(0), _ends),
                     st.tuples(st.integers(0, 10**10), _ends), st.tuples(_ends, _ends))


@examples(200)
@given(set_up=set_ups, clock=wrapping, script=scripts)
def test_same_near_wrap(lib, set_up, clock, script):
    """Clock values near wrap."""
    _, knobs, promises = set_up
    Lockstep(lib, clock, knobs, promises).play(script)


at_limits = with_operations(
    st.builds(Params, st.sampled_from(BW), st.sampled_from(BURST), st.sampled_from(LATENCY),
              st.sampled_from(WEIGHT), st.sampled_from(CAP)), st.sampled_from([0, *IOPS]))


@examples(150)
@given(set_up=set_ups, promises=st.lists(at_limits, min_size=FLOWS, max_size=FLOWS),
       script=scripts)
def test_same_at_the_limits(lib, set_up, promises, script):
    """Parameters at their limits."""
    clock, knobs, _ = set_up
    Lockstep(lib, clock, knobs, promises).play(script)


# Flows that ask for much more than they reserve, so most requests are surplus.
greedy = with_operations(
    st.builds(Params, st.sampled_from([4096, 200_000]), st.sampled_from([4096, 65536]),
              st.sampled_from([50 * 10**6, 10**9]), st.sampled_from([0, 1, 200]),
              st.sampled_from([0, 0, 200_000, 10**6])), st.sampled_from([0, 1, 30, 60]))
floods = lists(st.one_of(
    st.tuples(st.just("sweep"), which, st.integers(2, 24)),
    st.tuples(st.just("burst"), which, st.integers(2, 8), st.booleans()),
    st.tuples(st.just("arrive"), which, sizes),
    st.tuples(st.just("serve"), st.booleans()),
    st.tuples(st.just("complete"), which),
    st.tuples(st.just("let_pass"), pauses),
    st.tuples(st.just("unthrottle"), st.integers(-1, 1)),
    st.tuples(st.just("merge"), which, places, places),
    st.tuples(st.just("charge_bypass"), which, sizes),
    st.tuples(st.just("configure"), which, greedy),
    st.tuples(st.just("set_weight"), which, st.sampled_from(WEIGHT)),
), 40)


@examples(200)
@given(clock=clocks, device=st.tuples(st.sampled_from([0, 10**6]), st.booleans()),
       promises=st.lists(greedy, min_size=FLOWS, max_size=FLOWS), script=floods)
def test_same_by_weight_and_position(lib, clock, device, promises, script):
    """Surplus goes by weight, and by position on a rotational device."""
    Lockstep(lib, clock, (20, 10**7, "slack", *device), promises).play(script)
