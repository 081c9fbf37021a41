"""The guarantees of HTBS, on a device of constant rate, under any load that hypothesis finds.

The assertions of `Server` check at every dispatch of every run below:

- the deadline of a pending conforming request does not move, whatever other flows do;
- while a request is pending the device is idle for T_wait at most. With policy=slack it is not
  idle, nor does a run go on, at a time at which another head would be late with a seek, unless
  there is an overload;
- one of B_max dispatches in a row is of the smallest finish tag; with policy=slack also one in a
  second, and in an overload one in eight seeks.

After a run they check that no request starved:

- before a request go as many others as have a smaller finish tag, and a run with each of them;
- of the requests that arrived after it, only as many go before it as the curves of their flows
  allow in the time that it was ahead of the virtual clock;
- in an overload, a second tag advances by the device's time, so no flow has the device before it
  for longer than that time.
"""

from dataclasses import dataclass, field
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.admission import least_capacity
from tests.model.reservation import SECOND, Params, Request, Reservation
from tests.unit.server import Job, Server
from tests.unit.strategies import examples, lists, rules

MS = 10**6
BLOCK = 4096
C_MAX = 65536
ROUNDING = 20  # ns: tags and service times are whole nanoseconds

promises = st.builds(Params, bw=st.sampled_from([10**4, 10**5, 2 * 10**5, 10**6, 10**7]),
                     burst=st.sampled_from([4096, 8192, 65536, 262144]),
                     latency=st.sampled_from([MS, 5 * MS, 20 * MS, 50 * MS, 200 * MS]),
                     weight=st.just(0), max=st.just(0), iops=st.just(0))
sizes = st.sampled_from([4096, 4096, 8192, 16384, C_MAX])
pauses = st.sampled_from([0, 0, 0, 1000, MS, 4_096_000, 20 * MS, 100 * MS, SECOND])


@dataclass
class Load:
    """Requests at fixed times or, if closed, each a pause after the completion of the last."""

    promise: Params
    steps: list[tuple[int, int]]  # pause, size
    closed: bool
    sequential: bool
    sync: bool
    pos: int = field(default=0)

    def requests(self) -> list[tuple[int, Request]]:
        """The requests, each with the pause before it; none is larger than a burst."""
        requests = []
        for pause, wanted in self.steps:
            size = min(wanted, self.promise.burst)
            requests.append((pause, Request(size, self.pos, self.sync)))
            self.pos += size // 512 if self.sequential else 1 << 30
        return requests


loads = st.builds(Load, promises, lists(st.tuples(pauses, sizes), 40),
                  st.booleans(), st.booleans(), st.booleans())
# Tunables: B_max, T_wait, rule.
knobs = st.tuples(st.sampled_from([1, 2, 5, 20]), st.sampled_from([0, MS, 10 * MS]), rules)
# Tunables with which deadlines are kept: pClock; slack on flash and on a disk.
on_time = pytest.mark.parametrize("knobs", [(1, 0, "paper"), (4096, 0, "slack"),
                                            (4096, 10 * MS, "slack")])


def conforms_alone(load: Load) -> list[bool]:
    """For each request: does it conform if the flow is alone, in real time."""
    curves, time, alone = Reservation(load.promise, 0, 0), 0, []
    for pause, request in load.requests():
        time += pause
        alone.append(curves.start(time, request.cost) == time)
        curves.arrive(time, request.cost)
    load.pos = 0
    return alone


def serve(server: Server, some: list[Load]):
    """Run these loads together; the outcome of all requests."""
    arrivals, later = [], {}
    for load in some:
        flow = server.init_flow(load.promise)
        requests = load.requests()
        if load.closed:
            later[flow] = iter(requests)
            pause, request = next(later[flow])
            arrivals.append((server.now + pause, flow, request))
            continue
        time = server.now
        for pause, request in requests:
            time += pause
            arrivals.append((time, flow, request))

    def on_complete(job):
        for pause, request in later.get(job.flow, ()):
            return [(server.now + pause, job.flow, request)]
        return []

    server.on_complete = on_complete
    return server.run(arrivals)


def server_of(lib, promises: list[Params], c_max: int, knobs) -> Server:
    """The slowest server that admits these; its seek time is that of the largest request."""
    server = Server(lib, least_capacity(promises, c_max), *knobs)
    server.device.service.seek = C_MAX * SECOND // server.capacity
    return server


def check_on_time(server: Server, jobs: list[Job], busy: int) -> None:
    """Each conforming request is on time, except for `busy` bytes that were being served.

    A request may also be late by requests with smaller finish tags that arrived after a run or a
    wait had used its slack. With policy=paper and B_max 1 there are none.
    """
    for job in jobs:
        if not job.conforming or server.params[job.flow].max:
            continue
        unforeseen = [other.request.cost for other in jobs if other.flow is not job.flow
                      and job.arrived < job.passed <= other.arrived <= job.sent
                      and other.place <= job.finish]
        late = (busy + sum(unforeseen)) * SECOND // server.capacity
        due = job.arrived + server.params[job.flow].latency
        assert job.completed <= due + late + ROUNDING


@on_time
@examples(250)
@given(st.lists(loads, min_size=1, max_size=4), st.booleans())
def test_conforming_requests_are_on_time(lib, knobs, some, spare):
    """Conforming, admitted, at a constant rate: late by one largest request at most.

    The device may have been busy with that one; if c_max is admitted too, never late. The capacity
    is the least that admits the reservations.
    """
    c_max = C_MAX if spare else 0
    server = server_of(lib, [load.promise for load in some], c_max, knobs)
    check_on_time(server, serve(server, some), C_MAX - c_max)


@pytest.mark.parametrize(("rule", "b_max", "late"), [("paper", 1, 1), ("slack", 4096, 9)])
def test_two_bursts_when_a_run_is_left(lib, rule, b_max, late):
    """A run leaves time for a pending burst, but not for a later one that is due sooner."""
    burst = 64 * BLOCK
    promises = [Params(10**4, BLOCK, 200 * MS), Params(10**4, burst, 200 * MS),
                Params(10**4, burst, 65 * MS)]
    server = Server(lib, least_capacity(promises, 0), b_max, 0, rule)
    server.device.service.seek = BLOCK * SECOND // server.capacity + 1
    reader, first, second = map(server.init_flow, promises)
    jobs = server.run([*((0, reader, Request(BLOCK, 8 * i)) for i in range(300)),
                       *((20 * MS, first, Request(BLOCK)) for _ in range(64)),
                       *((98 * MS, second, Request(BLOCK)) for _ in range(64))])
    assert all(job.conforming for job in jobs if job.flow is not reader)
    blocks = max(job.completed - job.due for job in jobs if job.conforming)
    assert late - 1 < blocks * server.capacity / SECOND / BLOCK <= late
    check_on_time(server, jobs, BLOCK)


@examples(250)
@given(st.lists(loads, min_size=1, max_size=4), st.sampled_from([10**5, 10**6, 10**8]),
       knobs)
def test_any_load_on_any_device(lib, some, capacity, knobs):
    """No wait beyond T_wait or the slack of a head, no request starves, no request is lost.

    Also in an overload. `Server` checks that; see above.
    """
    jobs = serve(Server(lib, capacity, *knobs), some)
    assert len(jobs) == sum(len(load.steps) for load in some)
    assert all(job.completed for job in jobs)


@pytest.mark.parametrize(("rule", "b_max", "bound"), [("paper", 1, 100), ("paper", 5, 500),
                                                      ("slack", 4096, 1999)])
def test_no_flow_starves_in_an_overload(lib, rule, b_max, bound):
    """Ten sequential readers, with eight blocks pending each, reserve four times the disk.

    The bound that `Server` checks is smaller than the number of all other requests, so the check
    means something. With policy=slack while the overload lasts.
    """
    server = Server(lib, 1000 * BLOCK, b_max, 0, rule)
    server.device.service.seek = SECOND // 1000
    reads = {server.init_flow(Params(200 * BLOCK * (1 + i % 3), BLOCK, 50 * MS)):
             (Request(BLOCK, (i << 30) + 8 * k) for k in range(200)) for i in range(10)}
    server.on_complete = lambda job: [(server.now, job.flow, request)
                                      for request in islice(reads[job.flow], 1)]
    jobs = server.run([(0, flow, request) for flow, requests in reads.items()
                       for request in islice(requests, 8)])
    assert len(jobs) == 2000
    assert max(job.bound for job in jobs[400:1200]) < bound


@examples(150)
@given(loads, st.lists(loads, max_size=3), knobs)
def test_others_never_move_a_conforming_deadline(lib, load, others, knobs):
    """Other flows never move the deadline of a conforming request.

    A request that conforms to (bw, burst) in real time conforms whatever other flows do, and is
    due a latency after its arrival.
    """
    load.closed = False
    alone = conforms_alone(load)
    server = Server(lib, 10**6, *knobs)
    jobs = serve(server, [load, *others])
    here = [job for job in jobs if job.flow is list(server.params)[0]]
    for conforms, job in zip(alone, here, strict=True):
        if conforms:
            assert job.conforming
            assert job.due <= job.arrived + load.promise.latency


def conforms_afterwards(server: Server, load: Load, floods: list[Load], afterwards: list[int],
                        debt: int = 0) -> None:
    """At its rate, all requests of the first flow conform at once, whatever other flows do.

    Except for its debt, in virtual time.
    """
    flow = next(iter(server.params))
    begin, arrivals = server.now, []
    for flood in floods:
        other = server.init_flow(flood.promise)
        arrivals += [(begin, other, request) for _, request in flood.requests()]
    time = begin
    for wanted in afterwards:
        size = min(wanted, load.promise.burst)
        time += -(-size * SECOND // load.promise.bw)
        arrivals.append((time, flow, Request(size)))
    jobs = [job for job in server.run(arrivals) if job.flow is flow]
    assert len(jobs) == len(afterwards)
    for job in jobs:
        ahead = job.finish - load.promise.latency - job.arrived - job.drift
        assert job.conforming or ahead <= debt


def debt(server: Server, jobs: list[Job]) -> int:
    """The debt of the first flow: how far it went ahead while requests of others conformed."""
    flow, promise = next(iter(server.params.items()))
    last = max(job.finish for job in jobs if job.flow is flow) - promise.latency
    return max(0, last - server.now - server.device.clock.drift)


@examples(200)
@given(loads, st.tuples(*[st.lists(loads, max_size=2)] * 2), knobs, lists(sizes, 10))
def test_spare_capacity_never_costs_later(lib, load, others, knobs, afterwards):
    """Using spare capacity never costs later.

    A flow that had the device far beyond its rate owes nothing afterwards. It has used its burst:
    from there on all requests at its reserved rate conform at once, whatever other flows do.
    """
    beside, floods = others
    server = Server(lib, 10**8, *knobs)
    jobs = serve(server, [load, *beside])
    conforms_afterwards(server, load, floods, afterwards, debt(server, jobs))


def test_capacity_is_not_spare_while_another_conforms(lib):
    """A flow that is served before a conforming request of another is charged for that.

    Its requests are due sooner; the debt is the difference of the latencies at most.
    """
    server = Server(lib, 10**8)
    quick, slow = (server.init_flow(Params(10**5, BLOCK, latency)) for latency in (MS, 200 * MS))
    jobs = server.run([*((0, quick, Request(BLOCK)) for _ in range(5)), (0, slow, Request(BLOCK))])
    assert jobs[-1].conforming
    assert jobs[-1].sent == max(job.sent for job in jobs)
    step = BLOCK * SECOND // 10**5
    owes = 3 * step - server.now
    assert debt(server, jobs) == owes
    [job] = server.run([(server.now + step, quick, Request(BLOCK))])
    assert job.due == job.arrived + owes + MS
