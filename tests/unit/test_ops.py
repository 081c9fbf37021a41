"""Reserved operations: a request is one operation of any size, beside bytes or instead of them."""

from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.reservation import SECOND, Params, Request
from tests.unit.host import Device, Flow
from tests.unit.server import Server
from tests.unit.strategies import IOPS, examples
from tests.unit.test_guarantees import (
    C_MAX,
    Load,
    check_on_time,
    conforms_alone,
    knobs,
    loads,
    on_time,
    serve,
    server_of,
)
from tests.unit.test_share import BLOCK, CAPACITY, MS, SMALL, Greedy, rates, weights

TEN = Params(0, 2 * BLOCK, SECOND, iops=10)  # operations a second, two at once
BOTH = TEN._replace(bw=20 * BLOCK)


def _operating(load: Load, iops: int, alone: bool, weight: int) -> Load:
    bw = 0 if alone else load.promise.bw
    return replace(load, promise=load.promise._replace(bw=bw, iops=iops, weight=weight))


operating = st.builds(_operating, loads, st.sampled_from([1, 10, 100, 1000]), st.booleans(),
                      st.one_of(st.just(0), weights))


def starts(device: Device, flow: Flow, sizes: list[int], now: int = 0) -> list[int]:
    """Start tags of requests that arrive at once."""
    return [device.arrive(flow, Request(size), now).start for size in sizes]


def spend(device: Device, flow: Flow, count: int, now: int) -> None:
    """Dispatch requests of the flow; no other flow is backlogged."""
    for _ in range(count):
        assert device.choose(now).flow is flow
        device.dispatch(flow, now)


@pytest.mark.parametrize("size", [512, BLOCK, 1 << 20, (1 << 32) - 512])
def test_an_operation_is_one_whatever_its_size(lib, size):
    """Two at once, and then each tenth of a second."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(TEN, 0)
    assert starts(device, flow, [size] * 5) == [0, 0, 100 * MS, 200 * MS, 300 * MS]


@pytest.mark.parametrize(("sizes", "wanted"), [
    ([BLOCK] * 4, [0, 0, 100, 200]),  # by operations
    ([4 * BLOCK] * 3, [0, 200, 400]),  # by bytes: four blocks are 200 ms, and no burst holds them
    ([BLOCK, BLOCK, BLOCK, 8 * BLOCK, BLOCK], [0, 0, 100, 200, 500]),
])
def test_the_later_of_both_tags_counts(lib, sizes, wanted):
    """A request is entitled when both curves entitle it."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(BOTH, 0)
    assert starts(device, flow, sizes) == [at * MS for at in wanted]


@examples(200)
@given(st.integers(*IOPS), st.integers(1, 64), st.lists(st.integers(0, SECOND), max_size=60))
def test_a_bucket_of_operations(lib, iops, burst, gaps):
    """Requests conform as long as a bucket that is filled at the rate has tokens.

    None is served, so the virtual clock does not jump. A tag is off by 2 ns at most.
    """
    device = Device(lib, 1, 0)
    flow = device.init_flow(TEN._replace(burst=burst * BLOCK, iops=iops), 0)
    tokens = burst * SECOND  # billionths
    for now, gap in zip(accumulate(gaps), gaps, strict=True):
        tokens = min(burst * SECOND, tokens + gap * iops)
        conforming = device.arrive(flow, Request(BLOCK), now).conforming
        if abs(tokens - SECOND) > 2 * iops:
            assert conforming == (tokens >= SECOND)
        tokens -= SECOND


def test_merged_bytes_are_no_operation(lib):
    """They are charged to the curve of bytes alone."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(BOTH, 0)
    device.charge(flow, BLOCK, 0)
    assert starts(device, flow, [BLOCK] * 3) == [0, 50 * MS, 100 * MS]
    alone = device.init_flow(TEN, 0)
    device.charge(alone, 1 << 30, 0)
    assert starts(device, alone, [BLOCK] * 3) == [0, 0, 100 * MS]


def test_merged_requests_were_two_operations(lib):
    """A merge does not refund the operation of either request."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(TEN, 0)
    starts(device, flow, [BLOCK] * 2)
    device.merge(flow, *flow.queue)
    assert starts(device, flow, [BLOCK]) == [100 * MS]


def test_a_bypassing_request_is_one_operation(lib):
    """The data of a write between two flushes, for example."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(TEN, 0)
    device.charge_bypass(flow, 1 << 20, 0)
    assert starts(device, flow, [BLOCK] * 2) == [0, 100 * MS]


def test_a_requeued_request_is_one_operation(lib):
    """The driver gives a request back and gets it again."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(TEN, 0)
    starts(device, flow, [BLOCK])
    request, _ = device.dispatch(device.choose(0).flow, 0)
    device.requeue(flow, request)
    device.redispatch(flow, request, 0)
    assert starts(device, flow, [BLOCK] * 2) == [0, 100 * MS]


@pytest.mark.parametrize(("before", "after", "wanted"), [
    (BOTH._replace(iops=0), BOTH, [0, 0, 50, 100, 150]),  # no later than it was
    (BOTH, BOTH._replace(iops=0), [0, 0, 50, 100, 150]),
    (TEN, BOTH._replace(iops=20), [0, 0, 50, 100, 150]),
    (BOTH, TEN._replace(iops=1), [0, 0, 100, 200, 300]),
])
def test_no_pending_request_loses_by_a_change(lib, before, after, wanted):
    """It keeps the earlier of its old and its new tag, by whichever curve."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(before, 0)
    starts(device, flow, [BLOCK] * 5)
    device.configure(flow, after, 0)
    assert [flow.start_tag(request) for request in flow.queue] == [at * MS for at in wanted]


def test_how_many_may_be_due_at_once(lib):
    """Also of large requests, if bytes do not count."""
    device = Device(lib, 1, 0)
    alone, both = (device.init_flow(promise._replace(burst=4 * BLOCK), 0)
                   for promise in (TEN, BOTH))
    for flow in (alone, both):
        starts(device, flow, [2 * BLOCK] * 6)
    assert (alone.view().burst, both.view().burst) == (4, 2)


@pytest.mark.parametrize("rule", ["paper", "slack"])
@pytest.mark.parametrize("promise", [SMALL._replace(bw=0, iops=10), SMALL._replace(iops=10),
                                     SMALL._replace(bw=20 * BLOCK, iops=10)])
@pytest.mark.parametrize("weight", [1, 300])
def test_reserved_work_and_surplus_by_weight(lib, rule, promise, weight):
    """Surplus is refunded to both curves, so the reserved 10 blocks a second remain."""
    greedy = Greedy(Server(lib, CAPACITY, rule=rule))
    flows = [greedy.join(each, 20) for each in (promise._replace(weight=weight),
                                                SMALL._replace(weight=100))]
    rest = CAPACITY - 20 * BLOCK
    got = rates(greedy.run(), flows, 20)[0]
    assert got == pytest.approx(10 * BLOCK + rest * weight / (weight + 100), rel=0.02)


def test_a_full_curve_is_not_refunded(lib):
    """Three requests wait for operations until the curve of bytes is full: that is not refunded."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(Params(10 * BLOCK, 2 * BLOCK, SECOND, 100, iops=1), 0)
    starts(device, flow, [BLOCK] * 5)
    spend(device, flow, 2, 0)
    now = 900 * MS
    starts(device, flow, [BLOCK] * 2, now)
    assert flow.curve.tat == now + 200 * MS
    spend(device, flow, 3, now)
    assert flow.curve.tat == now + 200 * MS
    assert [flow.start_tag(request) for request in flow.queue] == [SECOND, 2 * SECOND]


def test_a_curve_that_slept_through_an_era(lib):
    """The clock went around 64 bits meanwhile, so old tags seem to be in the future."""
    device = Device(lib, 1, 0)
    flow = device.init_flow(BOTH, 0)
    starts(device, flow, [BLOCK] * 5)
    spend(device, flow, 5, 0)
    v = (1 << 64) - SECOND
    for to in ((1 << 62) - 1, (2 << 62) - 1, (3 << 62) - 1, v):
        device.clock_advance(to, 0)
    assert starts(device, flow, [BLOCK] * 3) == [v, v, v + 100 * MS]


@on_time
@examples(200)
@given(st.lists(operating, min_size=1, max_size=4))
def test_conforming_requests_are_on_time(lib, knobs, some):
    """Admitted with the largest request, at a constant rate: never late."""
    server = server_of(lib, [load.promise for load in some], C_MAX, knobs)
    check_on_time(server, serve(server, some), 0)


@examples(150)
@given(operating, st.lists(operating, max_size=3), knobs)
def test_a_flow_that_conforms_alone_conforms(lib, load, others, knobs):
    """Requests that conform to both curves in real time conform, whatever other flows do."""
    load.closed = False
    alone = conforms_alone(load)
    server = Server(lib, 10**6, *knobs)
    jobs = serve(server, [load, *others])
    here = [job for job in jobs if job.flow is next(iter(server.params))]
    for conforms, job in zip(alone, here, strict=True):
        assert job.conforming or not conforms
