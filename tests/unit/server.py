"""A device of constant rate that serves one request at a time, as `htbs/core/policy.c` says.

`Server.run()` is told when which requests arrive and returns what became of each. At every dispatch
it checks what must hold for any load on any device.
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
    """What became of a request."""

    number: int
    flow: Flow
    request: Request
    finish: int  # F
    arrived: int
    v: int  # virtual time by which it was given its tag
    conforming: bool
    drift: int  # the virtual clock's, at its arrival
    before: int  # dispatches before its arrival
    due: int  # real time
    bound: int = 0  # dispatches from then on that might have gone before its own
    passed: int = 0  # when another behind it was last sent, or waited for; or its arrival
    place: int = 0  # F when it was sent; of the rest, or in an overload, not as it arrived
    sent: int = 0
    turn: int = 0  # dispatches before its own
    strained: bool = False  # it was sent in an overload
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
        self._in_order_at = 0  # when one was, last
        self._starts: dict[Flow, int] = {}  # the last S of each
        self._seek = 0  # the most that a seek was believed to take
        self._overloaded = False  # so that tags have been given by a time that is held back
        self._by_finish = True  # the order is that of finish tags: neither weights nor caps

    def init_flow(self, params: Params) -> Flow:
        """A reservation."""
        flow = self.device.init_flow(params, self.now)
        self.params[flow] = params
        self._by_finish &= not params.weight and not params.max
        return flow

    def run(self, arrivals: Arrivals) -> list[Job]:
        """Serve until nothing is left; the jobs of this run in the order of arrival."""
        begin = len(self.jobs)
        self._expect(arrivals)
        while self._events:
            self.now, _, happen = heapq.heappop(self._events)
            happen()
            if not self._serving:
                self._dispatch()
        assert not self._pending, "left behind"
        if self._by_finish:
            for job in self.jobs[begin:]:
                self._had_its_turn(job)
        return self.jobs[begin:]

    def _at(self, time: int, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self._order), happen))

    def _expect(self, arrivals: Arrivals) -> None:
        for time, flow, request in arrivals:
            self._at(time, partial(self._arrive, flow, request))

    def _arrive(self, flow: Flow, request: Request) -> None:
        arrival = self.device.arrive(flow, request, self.now)
        self._never_falls(flow, arrival.start)
        job = Job(len(self.jobs), flow, request, arrival.start + self.params[flow].latency,
                  self.now, self.device.view().v, arrival.conforming, self.device.clock.drift,
                  len(self._sent), arrival.due, passed=self.now)
        self._pending[request] = job
        self.jobs.append(job)

    def _never_falls(self, flow: Flow, start: int) -> None:
        """S of a reservation, also after it was idle; but what is of the rest is given back."""
        if self._by_finish:
            assert start >= self._starts.get(flow, 0), "S fell"
            self._starts[flow] = start

    def _had_its_turn(self, job: Job) -> None:
        """It did not starve, in the words of test_guarantees.py."""
        before = self._sent[job.before:job.turn]
        ahead = [other for other in before if other.place <= job.place]
        strained = all(other.strained for other in before)
        job.bound = self._run(strained) * (len(ahead) + 1) - 1
        assert len(before) <= job.bound, "starved by runs"
        for flow, params in self.params.items():
            its = [other for other in ahead if other.flow is flow]
            span = job.place - params.latency - job.v
            came = sum(other.number > job.number for other in its)
            assert came <= self._may_come(params, span), "starved by more than was promised"
            took = sum(self._takes(other) for other in its[:-1])
            assert not strained or took <= max(span, 0), "starved by more than the whole device"

    def _run(self, strained: bool) -> int:
        """How many requests a run may have; in an overload it lasts some seeks."""
        if not strained:
            return self.b_max
        least = COST_MIN * SECOND // self.capacity
        return min(self.b_max, SHORT_RUN * self._seek // least + 1)

    @staticmethod
    def _may_come(params: Params, span: int) -> int:
        """How many requests may come from some moment on with start tags in this span of it."""
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
        assert not self._by_finish or waited <= self.t_wait, "waited longer than T_wait"
        stands = job.conforming and not self.params[choice.flow].max
        assert not stands or self.device.clock.drift == job.drift, "its deadline moved"
        # In an overload the device's time may count for a place; without one, tags alone.
        first = place == min(places) if self._overloaded else job.finish == smallest
        if self._by_finish:
            self._check_run(first, strained)
            if not first:
                self._nothing_urgent(self.now, choice.flow)
        self._send(job, place, waited > 0)

    def _strained(self) -> bool:
        return self.rule == "slack" and self.device.overload.now

    def _check_run(self, first: bool, strained: bool) -> None:
        """What is not of the smallest F goes in a run, which has an end."""
        self._seek = max(self._seek, self.device.service.seek)
        self._out_of_order = 0 if first else self._out_of_order + 1
        if first:
            self._in_order_at = self.now
        assert self._out_of_order < self.b_max, "a run longer than B_max"
        longest = SHORT_RUN * self.device.service.seek if strained else RUN_MAX
        in_time = first or self.now < self._in_order_at + longest
        assert self.rule == "paper" or in_time, "a run that lasts too long"

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
        """Nothing is chosen: one is waited for, or all that is pending is throttled by caps."""
        at, view = self.device.next_unthrottle(), self.device.view()
        if at is not None:
            assert at > self.now, "a flow is throttled longer than its cap requires"
            self._at(at, lambda: None)
        if view.wait is None:
            throttled = {job.flow.view().throttled for job in self._pending.values()}
            assert throttled == {True}, "idle for nothing"
            return
        assert view.wait == "arrival", "idle for nothing"
        assert view.wait_until <= self.now + self.t_wait, "a wait beyond T_wait"
        self._nothing_urgent(view.wait_until)
        self._at(view.wait_until, lambda: None)

    def _nothing_urgent(self, until: int, but: Flow | None = None) -> None:
        """By the rule of slack: then there is time for each other's head, and for its seek."""
        if self.rule == "paper" or self.device.overload.now:
            return
        for request, job in self._pending.items():
            head = job.flow is not but and request is job.flow.queue[0]
            if head and not self.params[job.flow].max:
                assert until + self.device.service.seek <= job.due, "passed when it was urgent"

    def _complete(self) -> None:
        job, self._serving = self._serving, None
        job.completed = self._idle_since = self.now
        self.device.complete(job.flow, job.request, self.now)
        self._expect(self.on_complete(job))
