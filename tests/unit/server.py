"""A device of constant rate that serves one request at a time, as `htbs/core/policy.c` chooses.

`Server.run()` takes arrivals and returns the outcome of each request. At every dispatch it checks
the properties that hold for any load on any device.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import count

from tests.model.reservation import COST_MIN, SECOND, Params, Request
from tests.model.slack import RUN_MAX, SHORT_RUN
from tests.unit.host import Device, Flow

Arrivals = Iterable[tuple[int, Flow, Request]]


@dataclass(eq=False)
class Job:
    """The outcome of a request."""

    number: int
    flow: Flow
    request: Request
    finish: int  # F
    arrived: int
    v: int  # virtual time of its tag
    conforming: bool
    drift: int  # the virtual clock's, at its arrival
    before: int  # dispatches before its arrival
    due: int  # real time
    bound: int = 0  # dispatches from its arrival on that may precede its own
    passed: int = 0  # the last dispatch with a later F, or wait; or its arrival
    place: int = 0  # F at its dispatch; of surplus, or in an overload, not that of its arrival
    sent: int = 0
    turn: int = 0  # dispatches before its own
    strained: bool = False  # dispatched in an overload
    completed: int = 0


class Server:
    """One device, its policy and its clock, which starts at 0."""

    def __init__(self, lib, capacity: int, b_max: int = 1, t_wait: int = 0, rule: str = "paper"):
        self.device = Device(lib, b_max, t_wait, rule)
        self.capacity, self.b_max, self.t_wait, self.rule = capacity, b_max, t_wait, rule
        self.params: dict[Flow, Params] = {}
        self.on_complete: Callable[[Job], Arrivals] = lambda job: ()
        self.now = 0
        self.jobs: list[Job] = []
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self._pending: dict[Request, Job] = {}
        self._serving: Job | None = None
        self._idle_since = 0
        self._sent: list[Job] = []
        self._out_of_order = 0  # dispatches in a row that were not of the smallest F
        self._in_order_at = 0  # the last dispatch of the smallest F
        self._starts: dict[Flow, int] = {}  # the last S of each flow
        self._seek = 0  # the largest estimate of a seek
        self._overloaded = False  # there was an overload, so tags are not by the virtual clock
        self._by_finish = True  # neither weights nor caps: the order is that of finish tags

    def init_flow(self, params: Params) -> Flow:
        """Create a flow."""
        flow = self.device.init_flow(params, self.now)
        self.params[flow] = params
        self._by_finish &= not params.weight and not params.max
        return flow

    def run(self, arrivals: Arrivals) -> list[Job]:
        """Serve until nothing is pending; the jobs of this run in the order of arrival."""
        begin = len(self.jobs)
        self._expect(arrivals)
        while self._events:
            self.now, _, happen = heapq.heappop(self._events)
            happen()
            if not self._serving:
                self._dispatch()
        assert not self._pending, "a request is left pending"
        if self._by_finish:
            for job in self.jobs[begin:]:
                self._check_not_starved(job)
        return self.jobs[begin:]

    def _at(self, time: int, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self._order), happen))

    def _expect(self, arrivals: Arrivals) -> None:
        for time, flow, request in arrivals:
            self._at(time, partial(self._arrive, flow, request))

    def _arrive(self, flow: Flow, request: Request) -> None:
        arrival = self.device.arrive(flow, request, self.now)
        self._check_start_tag(flow, arrival.start)
        job = Job(len(self.jobs), flow, request, arrival.start + self.params[flow].latency,
                  self.now, self.device.view().v, arrival.conforming, self.device.clock.drift,
                  len(self._sent), arrival.due, passed=self.now)
        self._pending[request] = job
        self.jobs.append(job)

    def _check_start_tag(self, flow: Flow, start: int) -> None:
        """S never falls in a flow, also after it was idle, unless surplus is refunded."""
        if self._by_finish:
            assert start >= self._starts.get(flow, 0), "S fell"
            self._starts[flow] = start

    def _check_not_starved(self, job: Job) -> None:
        """The request did not starve; test_guarantees.py explains the bounds."""
        before = self._sent[job.before:job.turn]
        ahead = [other for other in before if other.place <= job.place]
        strained = all(other.strained for other in before)
        job.bound = self._run(strained) * (len(ahead) + 1) - 1
        assert len(before) <= job.bound, "runs of others starved a request"
        for flow, params in self.params.items():
            its = [other for other in ahead if other.flow is flow]
            span = job.place - params.latency - job.v
            came = sum(other.number > job.number for other in its)
            most = self._may_come(params, span)
            assert came <= most, "more requests than a curve allows starved a request"
            took = sum(self._takes(other) for other in its[:-1])
            fair = not strained or took <= max(span, 0)
            assert fair, "a flow that counted for more than the whole device starved a request"

    def _run(self, strained: bool) -> int:
        """The most requests of a run; in an overload a run lasts SHORT_RUN seeks."""
        if not strained:
            return self.b_max
        least = COST_MIN * SECOND // self.capacity
        return min(self.b_max, SHORT_RUN * self._seek // least + 1)

    @staticmethod
    def _may_come(params: Params, span: int) -> int:
        """How many requests may arrive from a moment on with start tags within `span` of it."""
        if span < 0:
            return 0
        rate = min(filter(None, (params.bw, params.iops * COST_MIN)))
        return (params.burst + rate * span // SECOND) // COST_MIN + 1

    def _takes(self, job: Job) -> int:
        return job.request.cost * SECOND // self.capacity

    def _dispatch(self) -> None:
        while self.device.unthrottle(self.now):
            pass
        choice = self.device.choose(self.now)
        if choice.flow is None:
            if self._pending:
                self._keep_idle()
            return

        smallest = min(job.finish for job in self._pending.values())
        places = [flow.view().finish for flow in self.params if flow.queue]
        place = choice.flow.view().finish
        idle_since = max(self._idle_since, min(job.arrived for job in self._pending.values()))
        strained = self._strained()
        request, overload = self.device.dispatch(choice.flow, self.now)
        self._overloaded |= self.rule == "slack" and overload
        job = self._pending.pop(request)
        waited = self.now - idle_since
        assert not self._by_finish or waited <= self.t_wait, "the device idled beyond T_wait"
        stands = job.conforming and not self.params[choice.flow].max
        assert not stands or self.device.clock.drift == job.drift, "a conforming deadline moved"
        # In an overload the tag by the device's time counts, too.
        first = place == min(places) if self._overloaded else job.finish == smallest
        if self._by_finish:
            self._check_run(first, strained)
            if not first:
                self._check_slack(self.now, choice.flow)
        self._send(job, place, waited > 0)

    def _strained(self) -> bool:
        return self.rule == "slack" and self.device.overload.now

    def _check_run(self, first: bool, strained: bool) -> None:
        """A request that is not of the smallest F belongs to a run, which is bounded."""
        self._seek = max(self._seek, self.device.service.seek)
        self._out_of_order = 0 if first else self._out_of_order + 1
        if first:
            self._in_order_at = self.now
        assert self._out_of_order < self.b_max, "a run is longer than B_max"
        longest = SHORT_RUN * self.device.service.seek if strained else RUN_MAX
        in_time = first or self.now < self._in_order_at + longest
        assert self.rule == "paper" or in_time, "a run lasts too long"

    def _send(self, job: Job, place: int, waited: bool) -> None:
        job.place, job.sent, job.strained = place, self.now, self._strained()
        for other in self._pending.values():
            if waited or other.finish < place:
                other.passed = self.now
        job.turn = len(self._sent)
        self._sent.append(job)
        self._serving = job
        self._at(self.now + self._takes(job), self._complete)

    def _keep_idle(self) -> None:
        """Nothing is chosen: the device waits for a flow, or all backlogged flows are throttled."""
        at, view = self.device.next_unthrottle(), self.device.view()
        if at is not None:
            assert at > self.now, "a flow is throttled longer than its cap requires"
            self._at(at, lambda: None)
        if view.wait is None:
            throttled = {job.flow.view().throttled for job in self._pending.values()}
            assert throttled == {True}, "the device is idle though a flow is backlogged"
            return
        assert view.wait == "arrival", "the idle device waits for a completion"
        assert view.wait_until <= self.now + self.t_wait, "a wait lasts beyond T_wait"
        self._check_slack(view.wait_until)
        self._at(view.wait_until, lambda: None)

    def _check_slack(self, until: int, but: Flow | None = None) -> None:
        """With policy=slack each head of another flow can still be in time at `until`."""
        if self.rule == "paper" or self.device.overload.now:
            return
        for request, job in self._pending.items():
            head = job.flow is not but and request is job.flow.queue[0]
            if head and not self.params[job.flow].max:
                in_time = until + self.device.service.seek <= job.due
                assert in_time, "a run or a wait used time that a head needed"

    def _complete(self) -> None:
        job, self._serving = self._serving, None
        job.completed = self._idle_since = self.now
        self.device.complete(job.flow, job.request, self.now)
        self._expect(self.on_complete(job))
