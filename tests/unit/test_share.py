"""Shares of surplus by weight, on a device of constant rate.

`Server` checks at every dispatch that no conforming request's deadline has moved.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.reservation import SECOND, Params, Request
from tests.unit.host import Device, Flow
from tests.unit.server import Job, Server
from tests.unit.strategies import examples, lists, rules
from tests.unit.test_guarantees import (
    C_MAX,
    Load,
    check_on_time,
    conforms_afterwards,
    conforms_alone,
    loads,
    on_time,
    serve,
    server_of,
    sizes,
)

MS = 10**6
BLOCK = 4096
CAPACITY = 1000 * BLOCK  # bytes/s
SMALL = Params(10 * BLOCK, BLOCK, SECOND)  # a hundredth of the device

weights = st.sampled_from([0, 1, 100, 300, 10_000])
weighted = st.builds(lambda load, weight: replace(load, promise=load.promise._replace(
    weight=weight)), loads, weights)


class Greedy:
    """Flows that always have four requests pending, each until its own end."""

    def __init__(self, server: Server, size: int = BLOCK):
        self.server, self.size = server, size
        self.ends: dict[Flow, int] = {}
        server.on_complete = self._again

    def join(self, promise: Params, seconds: int, flow: Flow | None = None) -> Flow:
        """A flow is greedy for some seconds from now on."""
        flow = flow or self.server.init_flow(promise)
        self.ends[flow] = self.server.now + seconds * SECOND
        return flow

    def run(self) -> list[Job]:
        """Serve until the last flow is idle."""
        return self.server.run((self.server.now, flow, self._request())
                               for flow, end in self.ends.items() if end > self.server.now
                               for _ in range(4))

    def _request(self) -> Request:
        return Request(self.size, sync=False)

    def _again(self, job: Job):
        if self.server.now < self.ends.get(job.flow, 0):
            return [(self.server.now, job.flow, self._request())]
        return []


def rates(jobs: list[Job], flows: list[Flow], seconds: int, since: int = 0) -> list[float]:
    """The throughput of each flow, bytes/s."""
    return [sum(job.request.size for job in jobs
                if job.flow is flow and since <= job.completed < since + seconds * SECOND)
            / seconds for flow in flows]


def share(lib, promises: list[Params], seconds: int = 20, rule: str = "paper",
          **knobs: int) -> list[float]:
    """The throughput of greedy flows, bytes/s."""
    greedy = Greedy(Server(lib, CAPACITY, rule=rule, **knobs))
    flows = [greedy.join(promise, seconds) for promise in promises]
    return rates(greedy.run(), flows, seconds)


@pytest.mark.parametrize("rule", ["paper", "slack"])
@pytest.mark.parametrize("given", [(100, 100), (100, 300), (1, 9), (7, 100, 893), (10_000, 10_000)])
def test_surplus_goes_by_weight(lib, given, rule):
    """Each flow gets its reservation, and surplus in proportion to its weight."""
    promises = [SMALL._replace(bw=SMALL.bw * (1 + i), weight=weight)
                for i, weight in enumerate(given)]
    got = share(lib, promises, rule=rule)
    rest = CAPACITY - sum(promise.bw for promise in promises)
    for rate, promise in zip(got, promises, strict=True):
        assert rate == pytest.approx(promise.bw + rest * promise.weight / sum(given), rel=0.02)


def test_runs_do_not_change_the_shares(lib):
    """Requests of 64 KiB in runs of up to 20."""
    promises = [SMALL._replace(weight=100), SMALL._replace(weight=300)]
    server = Server(lib, 10 * CAPACITY, 20, 10 * MS)
    greedy = Greedy(server, 16 * BLOCK)
    flows = [greedy.join(promise, 60) for promise in promises]
    one, three = (rate - SMALL.bw for rate in rates(greedy.run(), flows, 60))
    assert three / one == pytest.approx(3, rel=0.02)


def test_a_flow_without_a_weight_counts_100(lib):
    """If another flow has a weight; else surplus goes by bandwidths."""
    twice = SMALL._replace(bw=2 * SMALL.bw)
    one, other = share(lib, [SMALL._replace(weight=300), twice])
    assert (one - SMALL.bw) / (other - twice.bw) == pytest.approx(3, rel=0.02)
    one, other = share(lib, [SMALL, twice])
    assert other / one == pytest.approx(2, rel=0.02)


def test_the_last_weight_is_removed(lib):
    """Then surplus goes by bandwidths, as if there had never been a weight."""
    server = Server(lib, CAPACITY)
    greedy = Greedy(server)
    promises = [SMALL._replace(weight=900), SMALL._replace(bw=2 * SMALL.bw)]
    flows = [greedy.join(promise, 5) for promise in promises]
    greedy.run()
    server.device.set_weight(flows[0], 0)
    begin = server.now
    for flow in flows:
        greedy.join(SMALL, 20, flow)
    one, other = rates(greedy.run(), flows, 20, begin)
    assert other / one == pytest.approx(2, rel=0.02)


def test_an_idle_flow_has_saved_nothing(lib):
    """A flow that was idle gets its share from now on, and the busy flow owes nothing."""
    server = Server(lib, CAPACITY)
    greedy = Greedy(server)
    busy, idle = SMALL._replace(weight=100), SMALL._replace(weight=300)
    flows = [greedy.join(busy, 30), server.init_flow(idle)]
    greedy.run()
    begin = server.now
    for flow in flows:
        greedy.join(SMALL, 10, flow)
    one, three = (rate - SMALL.bw for rate in rates(greedy.run(), flows, 10, begin))
    assert three / one == pytest.approx(3, rel=0.02)


def test_no_start_tag_in_the_past(lib):
    """64 KiB are served as surplus 1 ms before they are entitled; the next tag is now."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(Params(4_096_000, 65536, SECOND, 100), 0)
    for size in (65536, 65536, BLOCK):
        device.arrive(flow, Request(size), 0)
    assert [flow.start_tag(request) for request in flow.queue] == [0, 16 * MS, 17 * MS]
    for now in (0, 15 * MS):
        assert device.choose(now).flow is flow
        device.dispatch(flow, now)
    assert flow.start_tag(flow.queue[0]) == 15 * MS
    device.arrive(flow, Request(BLOCK), 15 * MS)
    assert flow.start_tag(flow.queue[1]) == 15 * MS


def test_a_bypassing_request_is_surplus(lib):
    """Flushed data, for example: it is charged to the share tag, not to the reservation."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(SMALL._replace(weight=100), 0)
    other = device.init_flow(SMALL, 0)
    for _ in range(100):
        device.charge_bypass(flow, BLOCK, 0)
    device.charge_bypass(other, BLOCK, 0)
    assert [device.arrive(each, Request(BLOCK), 100 * MS).conforming
            for each in (flow, other)] == [True, True]


def test_overload_goes_by_bandwidth(lib):
    """When more is reserved than the device does there is no surplus, whatever the weights."""
    much = Params(2 * CAPACITY // 5, BLOCK, MS)
    one, other = share(lib, [much._replace(weight=10_000),
                             much._replace(bw=2 * much.bw, weight=1)], rule="slack")
    assert other / one == pytest.approx(2, rel=0.05)


@on_time
@examples(150)
@given(st.lists(weighted, min_size=1, max_size=4), st.booleans())
def test_conforming_requests_are_on_time(lib, knobs, some, spare):
    """As without weights: admitted, at a constant rate, late by a largest request at most."""
    c_max = C_MAX if spare else 0
    server = server_of(lib, [load.promise for load in some], c_max, knobs)
    check_on_time(server, serve(server, some), C_MAX - c_max)


@examples(100)
@given(weighted, st.lists(weighted, max_size=3), st.sampled_from([1, 5, 20]), rules)
def test_a_flow_that_conforms_alone_conforms(lib, load: Load, others, b_max, rule):
    """Requests that conform to (bw, burst) in real time conform beside any flows and weights."""
    load.closed = False
    alone = conforms_alone(load)
    server = Server(lib, 10**6, b_max, rule=rule)
    jobs = serve(server, [load, *others])
    here = [job for job in jobs if job.flow is list(server.params)[0]]
    for conforms, job in zip(alone, here, strict=True):
        assert job.conforming or not conforms


@examples(100)
@given(weighted, st.lists(weighted, max_size=2), rules, lists(sizes, 10))
def test_surplus_costs_nothing_later(lib, load: Load, floods, rule, afterwards):
    """A flow that had the whole device owes nothing: at its rate every request conforms."""
    load.promise = load.promise._replace(weight=max(1, load.promise.weight))
    server = Server(lib, 10**8, rule=rule)
    serve(server, [load])
    conforms_afterwards(server, load, floods, afterwards)
