"""A device of constant rate that serves one request at a time, as `htbs/policy.c` says.

`Server.run()` is told when which requests arrive and returns what became of each. At every dispatch
it checks what must hold for any load on any device.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import count

from tests.model.reservation import COST_MIN, SECOND, Params, Request
from tests.unit.host import Device, Flow

Arrivals = Iterable[tuple[int, Flow, Request]]


@dataclass(eq=False)
class Job:
    """What became of a request."""

    flow: Flow
    request: Request
    finish: int  # F
    arrived: int
    v: int  # virtual time of its arrival
    conforming: bool
    drift: int  # the virtual clock's, at its arrival
    before: int  # dispatches before its arrival
    due: int  # real time
    bound: int = 0  # dispatches from then on that may go before its own
    passed: int = 0  # when another behind it was last sent, or waited for; or its arrival
    place: int = 0  # F when it was sent; of the rest, or in an overload, not as it arrived
    sent: int = 0
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
        self._dispatches = 0
        self._out_of_order = 0  # dispatches in a row that were not of the smallest F
        self._overloaded = False  # so that tags have been given by a time that is held back
        self._by_finish = True  # the order is that of finish tags: neither weights nor caps

    def add(self, params: Params) -> Flow:
        """A reservation."""
        flow = self.device.add(params, self.now)
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
        return self.jobs[begin:]

    def _at(self, time: int, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self._order), happen))

    def _expect(self, arrivals: Arrivals) -> None:
        for time, flow, request in arrivals:
            self._at(time, partial(self._arrive, flow, request))

    def _arrive(self, flow: Flow, request: Request) -> None:
        arrival = self.device.arrive(flow, request, self.now)
        job = Job(flow, request, arrival.start + self.params[flow].latency, self.now, arrival.v,
                  arrival.conforming, self.device.clock.drift, self._dispatches, arrival.due,
                  passed=self.now)
        job.bound = self._bound(job)
        self._pending[request] = job
        self.jobs.append(job)

    def _bound(self, job: Job) -> int:
        """How many may go before this one.

        The run that is on, and a run for every request with a finish tag that is not behind this
        one: those that are pending, and those that may arrive before the curves pass this tag.
        """
        ahead = sum(other.finish <= job.finish for other in self._pending.values())
        for each in self.params.values():
            span = job.finish - each.latency - job.v
            rate = each.bw or each.iops * COST_MIN
            if span >= 0:
                ahead += (each.burst + rate * span // SECOND) // COST_MIN + 1
        return self.b_max * (ahead + 1)

    def _dispatch(self) -> None:
        while self.device.release(self.now):
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
        request, overload = self.device.dispatch(choice.flow, self.now)
        self._overloaded |= self.rule == "slack" and overload
        job = self._pending.pop(request)
        waited = self.now - idle_since
        assert not self._by_finish or waited <= self.t_wait, "waited longer than T_wait"
        stands = job.conforming and not self.params[choice.flow].max
        assert not stands or self.device.clock.drift == job.drift, "its deadline moved"
        in_order = not self._overloaded and self._by_finish
        assert not in_order or self._dispatches - job.before <= job.bound, "starved"
        self._dispatches += 1
        # In an overload the device's time may count for a place; without one, tags alone.
        first = place == min(places) if self._overloaded else job.finish == smallest
        self._out_of_order = 0 if first else self._out_of_order + 1
        assert not self._by_finish or self._out_of_order < self.b_max, "a run longer than B_max"

        self._send(job, place, waited > 0)

    def _send(self, job: Job, place: int, waited: bool) -> None:
        job.place, job.sent = place, self.now
        for other in self._pending.values():
            if waited or other.finish < place:
                other.passed = self.now
        self._serving = job
        self._at(self.now + job.request.cost * SECOND // self.capacity, self._complete)

    def _keep_idle(self) -> None:
        """Nothing is chosen: one is waited for, or all that is pending is stopped by caps."""
        alarm, view = self.device.alarm(), self.device.view()
        if alarm is not None:
            assert alarm > self.now, "who may go on was not let go"
            self._at(alarm, lambda: None)
        if view.wait is None:
            stopped = {job.flow.view().stopped for job in self._pending.values()}
            assert stopped == {True}, "idle for nothing"
            return
        assert view.wait == "arrival", "idle for nothing"
        assert view.wait_until <= self.now + self.t_wait, "a wait beyond T_wait"
        self._nothing_urgent(view.wait_until)
        self._at(view.wait_until, lambda: None)

    def _nothing_urgent(self, until: int) -> None:
        """By the rule of slack: after the wait there is time for each head, and for its seek."""
        if self.rule == "paper" or self.device.overload.now:
            return
        for request, job in self._pending.items():
            if request is job.flow.queue[0] and not self.params[job.flow].max:
                assert until + self.device.service.seek <= job.due, "a wait while one was urgent"

    def _complete(self) -> None:
        job, self._serving = self._serving, None
        job.completed = self._idle_since = self.now
        self.device.complete(job.flow, job.request, self.now)
        self._expect(self.on_complete(job))
