"""The parts of the policy, each tested separately; limits are in test_limits.py."""

from ctypes import (
    POINTER,
    Structure,
    addressof,
    byref,
    c_bool,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from functools import cache
from itertools import accumulate
from math import isqrt

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.model.reservation import SECOND, Params
from tests.unit import host
from tests.unit.host import CLimit, CParams, CQuota
from tests.unit.host import CServiceTime as CService

WRAP = 1 << 64
MS = 10**6
MARGIN_ONE = 256
LATENCY = 50 * MS


class CLoad(Structure):
    """struct htbs_load."""

    _fields_ = [("mean", c_uint64), ("variance", c_uint64)]


class CSum(Structure):
    """struct htbs_owed_sum."""

    _fields_ = [("load", CLoad), ("slack_end", c_uint64), ("start", c_uint64)]


class CHead(Structure):
    """struct htbs_owed_head."""

    _fields_ = [("rb", c_size_t * 3), ("deadline", c_uint64), ("start", c_uint64),
                ("pos", c_uint64), ("load", CLoad), ("sum", CSum)]


class COwed(Structure):
    """struct htbs_owed."""

    _fields_ = [("root", c_void_p), ("first", c_void_p)]


class CPaceCurve(Structure):
    """struct htbs_pace_curve."""

    _fields_ = [("rate", c_uint64), ("tag", c_uint64), ("rest", c_uint64), ("busy_tag", c_uint64)]


class CPace(Structure):
    """struct htbs_pace."""

    _fields_ = [("params", CParams), ("bytes", CPaceCurve), ("ops", CPaceCurve)]


class CFastest(Structure):
    """struct htbs_fastest."""

    _fields_ = [("latest", c_uint64), ("before", c_uint64), ("since", c_uint64)]


class CDeadlines(Structure):
    """struct htbs_deadlines."""

    _fields_ = [("of", c_uint64 * 2 * 128), ("count", c_uint32), ("later", c_uint32),
                ("later_at", c_uint64)]


@cache
def parts():
    """Return the core library, with the prototypes of its parts."""
    lib = host.build()
    prototypes = {
        "htbs_owed_init": (None, POINTER(COwed)),
        "htbs_owed_insert": (None, POINTER(COwed), POINTER(CHead)),
        "htbs_owed_remove": (None, POINTER(COwed), POINTER(CHead)),
        "htbs_owed_entitled": (c_void_p, POINTER(COwed), c_uint64),
        "htbs_owed_nearest": (c_void_p, POINTER(COwed), c_uint64, c_uint64),
        "htbs_owed_latest": (c_bool, POINTER(COwed), POINTER(CHead), POINTER(CLoad), c_uint32,
                             POINTER(c_uint64)),
        "htbs_deadlines_add": (None, POINTER(CDeadlines), c_uint64, c_uint64),
        "htbs_deadlines_remove": (None, POINTER(CDeadlines), c_uint64),
        "htbs_deadlines_between": (c_bool, POINTER(CDeadlines), c_uint64, c_uint64),
        "htbs_pace_init": (None, POINTER(CPace), POINTER(CParams), c_uint64),
        "htbs_pace_tag": (c_uint64, POINTER(CPace)),
        "htbs_pace_start": (c_uint64, POINTER(CPace), c_uint64, c_uint32),
        "htbs_pace_deadline": (c_uint64, POINTER(CPace), c_uint64, c_uint64),
        "htbs_pace_busy": (None, POINTER(CPace), c_uint64, c_uint64, c_uint64),
        "htbs_pace_mark": (None, POINTER(CPace), c_uint64),
        "htbs_pace_charge": (None, POINTER(CPace), c_uint64, c_uint32),
        "htbs_fair_init": (None, POINTER(CFair)),
        "htbs_fair_advance": (None, POINTER(CFair), POINTER(CFairNode), c_uint64),
        "htbs_fair_busy": (None, POINTER(CFair), POINTER(CFairNode), c_uint64),
        "htbs_fair_insert": (None, POINTER(CFair), POINTER(CFairNode)),
        "htbs_fair_pass": (None, POINTER(CFair), POINTER(CFairNode)),
        "htbs_limit_init": (None, POINTER(CLimit), c_uint64, c_uint64, c_uint64),
        "htbs_limit_doubt": (None, POINTER(CLimit), c_bool, c_uint64),
        "htbs_limit_judge": (None, POINTER(CLimit), c_uint32, c_uint64),
        "htbs_quota_init": (None, POINTER(CQuota), c_uint64, c_uint64, c_uint64),
        "htbs_quota_allows": (c_bool, POINTER(CQuota), c_uint64),
        "htbs_quota_account": (None, POINTER(CQuota), c_uint64, c_bool, c_uint64),
        "htbs_quota_judge": (None, POINTER(CQuota), c_uint32, c_uint64),
        "htbs_quota_wait": (c_uint64, POINTER(CQuota), c_uint64),
        "htbs_service_time_init": (None, POINTER(CService), c_uint64),
        "htbs_service_time_learn": (None, POINTER(CService), c_uint64, c_uint32, c_bool),
        "htbs_service_time_longest": (c_uint64, POINTER(CService)),
        "htbs_service_time_bytes": (c_uint64, POINTER(CService)),
        "htbs_fastest_learn": (None, POINTER(CFastest), c_uint64, c_uint64),
        "htbs_fastest_time": (c_uint64, POINTER(CFastest)),
        "htbs_load_margin": (c_uint64, c_uint64, c_uint32),
    }
    for name, (result, *arguments) in prototypes.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


# Owed heads.

times = st.integers(0, SECOND)
heads = st.builds(
    dict, deadline=times, mean=st.integers(0, 100 * MS),
    variance=st.integers(0, 1 << 30),
)
# Which of eight heads is added, changed, or removed.
steps = st.lists(st.tuples(st.integers(0, 7), st.one_of(st.none(), heads)), max_size=60)


def latest_of(owed: list[dict], before: tuple[int, int], margin: int) -> int:
    """Return latest(Q), summed up head by head."""
    load, variance = before
    slack = min(head["deadline"] - mean for head, mean in zip(
        owed, accumulate(head["mean"] for head in owed), strict=True))
    deviation = isqrt(variance + sum(head["variance"] for head in owed)) << 10
    return slack - load - margin * deviation // MARGIN_ONE


@example(steps=[(0, {"deadline": 0, "mean": 0, "variance": 0}),
                (1, {"deadline": SECOND, "mean": 0, "variance": 0})],
         zero=WRAP - SECOND // 2, before=(0, 0), margin=0)
@given(steps=steps, zero=st.sampled_from([0, WRAP - SECOND // 2]),
       before=st.tuples(times, st.integers(0, 1 << 30)), margin=st.integers(0, 20 * MARGIN_ONE))
def test_latest_is_that_of_a_walk(steps, zero, before, margin):
    """The tree finds what a walk finds, with and without each head, also when the clock wraps."""
    lib, tree = parts(), COwed()
    lib.htbs_owed_init(byref(tree))
    nodes, known, order = [CHead() for _ in range(8)], {}, []
    for which, head in steps:
        node = nodes[which]
        if which in known:
            lib.htbs_owed_remove(byref(tree), byref(node))
            del known[which]
            order.remove(which)
        if not head:
            continue
        node.load = CLoad(head["mean"], head["variance"])
        node.deadline = (head["deadline"] + zero) % WRAP
        lib.htbs_owed_insert(byref(tree), byref(node))
        known[which] = head
        order.append(which)

    # Equal deadlines keep the order of insertion.
    order.sort(key=lambda which: known[which]["deadline"])
    assert tree.first == (addressof(nodes[order[0]]) if order else None)
    end, load = c_uint64(), CLoad(*before)
    for without in [None, *order]:
        rest = [known[which] for which in order if which != without]
        there = lib.htbs_owed_latest(byref(tree),
                                     None if without is None else byref(nodes[without]),
                                     byref(load), margin, byref(end))
        assert there == bool(rest)
        if rest:
            assert end.value == (latest_of(rest, before, margin) + zero) % WRAP


# Entitled heads.

NEAR = 16
places = st.integers(0, 30)
entitled_steps = st.lists(
    st.tuples(st.integers(0, 23), st.one_of(st.none(), st.tuples(times, times, places))),
    max_size=80)


@given(steps=entitled_steps, zero=st.sampled_from([0, WRAP - SECOND // 2]), now=times, pos=places)
def test_entitled_heads_are_those_of_a_walk(steps, zero, now, pos):
    """The head due first, and the nearest of those due first; also when the clock wraps."""
    lib, tree, known, order = parts(), COwed(), {}, []
    lib.htbs_owed_init(byref(tree))
    nodes = [CHead() for _ in range(24)]
    for which, head in steps:
        node = nodes[which]
        if which in known:
            lib.htbs_owed_remove(byref(tree), byref(node))
            del known[which]
            order.remove(which)
        if head:
            node.deadline, node.start = ((each + zero) % WRAP for each in head[:2])
            node.pos = head[2]
            lib.htbs_owed_insert(byref(tree), byref(node))
            known[which] = head
            order.append(which)
    order.sort(key=lambda which: known[which][0])
    entitled = [which for which in order if known[which][1] <= now]
    time = (now + zero) % WRAP
    first = lib.htbs_owed_entitled(byref(tree), time)
    assert first == (addressof(nodes[entitled[0]]) if entitled else None)
    near = min(entitled[:NEAR], key=lambda which: abs(known[which][2] - pos), default=None)
    nearest = lib.htbs_owed_nearest(byref(tree), pos, time)
    assert nearest == (None if near is None else addressof(nodes[near]))


def test_the_nearest_is_one_of_sixteen_that_are_due_first():
    """A choice takes no longer if there are more flows, even if the next head is nearer."""
    lib, tree = parts(), COwed()
    lib.htbs_owed_init(byref(tree))
    nodes = [CHead(deadline=number, pos=100 - number) for number in range(20)]
    for node in nodes:
        lib.htbs_owed_insert(byref(tree), byref(node))
    assert lib.htbs_owed_nearest(byref(tree), 0, 0) == addressof(nodes[NEAR - 1])


# The pace.

def promises(most_bw: int):
    """Return reservations of bytes."""
    return st.tuples(st.integers(4096, most_bw), st.integers(4096, 1 << 22),
                     st.sampled_from([MS, LATENCY, SECOND])).map(lambda each: Params(*each))


def pace_of(promise: Params) -> CPace:
    """Return a pace at time 0; a second later the flow has its whole burst."""
    pace = CPace()
    parts().htbs_pace_init(byref(pace), byref(CParams(*promise)), 0)
    return pace


costs_of_requests = st.lists(st.integers(4096, 1 << 20), min_size=1, max_size=40)


@given(promise=promises(1 << 30), costs=costs_of_requests)
def test_no_more_is_entitled_than_the_arrival_curve_has(promise, costs):
    """A backlog gets never more than burst plus bandwidth times time, and no less."""
    lib, pace, begin = parts(), pace_of(promise), SECOND
    lib.htbs_pace_busy(byref(pace), begin, SECOND, 0)
    sent = 0
    for cost in costs:
        start = lib.htbs_pace_start(byref(pace), begin, cost)
        curve = max(promise.burst, cost) + (start - begin) * promise.bw / SECOND
        rounding = 2 * promise.bw / SECOND + 1
        assert sent + cost <= curve + rounding
        if start > begin and promise.burst > cost:
            assert sent + cost >= curve - rounding
        lib.htbs_pace_charge(byref(pace), begin, cost)
        sent += cost


@given(promise=promises(1 << 30), costs=costs_of_requests, iops=st.integers(1, 1 << 20),
       bytes_too=st.booleans())
def test_no_more_operations_are_entitled_than_are_reserved(promise, costs, iops, bytes_too):
    """The later start of both curves; with operations alone a request of any size counts as one."""
    bandwidth = promise if bytes_too else promise._replace(bw=0)
    both, begin = pace_of(bandwidth._replace(iops=iops)), SECOND
    by_bytes, by_ops = pace_of(promise), pace_of(promise._replace(bw=iops * 4096))
    lib = parts()
    for pace in (both, by_bytes, by_ops):
        lib.htbs_pace_busy(byref(pace), begin, SECOND, 0)
    for cost in costs:
        starts = [lib.htbs_pace_start(byref(by_ops), begin, 4096)]
        if bytes_too:
            starts.append(lib.htbs_pace_start(byref(by_bytes), begin, cost))
        assert lib.htbs_pace_start(byref(both), begin, cost) == max(starts)
        lib.htbs_pace_charge(byref(both), begin, cost)
        lib.htbs_pace_charge(byref(by_bytes), begin, cost)
        lib.htbs_pace_charge(byref(by_ops), begin, 4096)


@given(promise=promises(1 << 40), costs=costs_of_requests)
def test_a_tag_is_exact(promise, costs):
    """Rounding errors of the steps do not add up, however large the bandwidth is."""
    lib, pace = parts(), pace_of(promise)
    for cost in costs:
        lib.htbs_pace_charge(byref(pace), 0, cost)
    assert lib.htbs_pace_tag(byref(pace)) == sum(costs) * SECOND // promise.bw


@pytest.mark.parametrize("service", [0, 10 * MS])
def test_a_closed_loop_loses_no_bandwidth(service):
    """A reader with one request in flight, served after 35 ms instead of 20, is owed the rest."""
    lib, pace, cost = parts(), pace_of(Params(204_800, 4096, LATENCY)), 4096
    now = SECOND
    lib.htbs_pace_busy(byref(pace), now, SECOND, service)
    for _ in range(3):
        lib.htbs_pace_charge(byref(pace), now, cost)
        now += 35 * MS
        lib.htbs_pace_busy(byref(pace), now, MS // 10, service)
    behind = 3 * 15 * MS
    assert lib.htbs_pace_tag(byref(pace)) == now - behind
    assert lib.htbs_pace_start(byref(pace), now, cost) == now
    assert lib.htbs_pace_deadline(byref(pace), now, now) == now + LATENCY - behind


def test_surplus_loses_no_bandwidth():
    """Surplus does not move the tag. Time that the device takes beyond the tag is not idle time."""
    lib, pace = parts(), pace_of(Params(204_800, 4096, LATENCY))
    lib.htbs_pace_busy(byref(pace), SECOND, SECOND, MS)
    lib.htbs_pace_charge(byref(pace), SECOND, 4096)
    tag = SECOND + 20 * MS
    lib.htbs_pace_busy(byref(pace), SECOND + 5 * MS, 0, MS)
    lib.htbs_pace_busy(byref(pace), SECOND + 40 * MS, 0, MS)
    assert lib.htbs_pace_tag(byref(pace)) == tag
    lib.htbs_pace_busy(byref(pace), SECOND + 50 * MS, 9 * MS, MS)
    assert lib.htbs_pace_tag(byref(pace)) == SECOND + 50 * MS


def test_time_behind_beyond_a_latency_is_lost():
    lib, pace = parts(), pace_of(Params(204_800, 4096, LATENCY))
    lib.htbs_pace_busy(byref(pace), SECOND, SECOND, 0)
    lib.htbs_pace_charge(byref(pace), SECOND, 4096)
    lib.htbs_pace_busy(byref(pace), 2 * SECOND, 0, 0)
    assert lib.htbs_pace_tag(byref(pace)) == 2 * SECOND - LATENCY
    assert lib.htbs_pace_deadline(byref(pace), 2 * SECOND, 2 * SECOND) == 2 * SECOND


def test_an_idle_flow_saves_up_nothing():
    lib, pace = parts(), pace_of(Params(204_800, 4096, LATENCY))
    lib.htbs_pace_busy(byref(pace), SECOND, SECOND, 0)
    lib.htbs_pace_charge(byref(pace), SECOND, 4096)
    lib.htbs_pace_busy(byref(pace), 2 * SECOND, SECOND - 10 * MS, 0)
    assert lib.htbs_pace_tag(byref(pace)) == 2 * SECOND


@pytest.mark.parametrize(("busy", "saves"), [(LATENCY, True), (5 * SECOND, False)])
@pytest.mark.parametrize("by", ["bw", "iops"])
def test_a_flow_that_had_its_reservation_for_long_saves_up_nothing(by, busy, saves):
    """The device is not the reason that the flow is idle for as long afterwards."""
    promise = Params(204_800, 4096, LATENCY)
    lib, pace = parts(), pace_of(promise if by == "bw" else promise._replace(bw=0, iops=50))
    now = SECOND
    lib.htbs_pace_busy(byref(pace), now, SECOND, 0)
    for _ in range(busy // (20 * MS)):
        lib.htbs_pace_charge(byref(pace), now, 4096)
        now += 20 * MS
        lib.htbs_pace_mark(byref(pace), now)
    now += busy - 30 * MS
    lib.htbs_pace_busy(byref(pace), now, busy - 30 * MS, 0)
    assert lib.htbs_pace_tag(byref(pace)) == (now - 20 * MS if saves else now)


# Shares.

class CFair(Structure):
    """struct htbs_fair."""

    _fields_ = [("root", c_void_p * 2), ("clock", c_uint64)]


class CFairNode(Structure):
    """struct htbs_fair_node."""

    _fields_ = [("rb", c_size_t * 3), ("tag", c_uint64)]


def test_an_idle_flow_has_saved_no_share():
    """It begins at the tag of a flow that was served, minus a run."""
    lib, fair, node, other = parts(), CFair(), CFairNode(), CFairNode()
    lib.htbs_fair_init(byref(fair))
    other.tag = 1000
    lib.htbs_fair_advance(byref(fair), byref(other), 100)
    lib.htbs_fair_busy(byref(fair), byref(node), 0)
    assert node.tag == 900
    node.tag = 5000
    lib.htbs_fair_busy(byref(fair), byref(node), 0)
    assert node.tag == 5000


@pytest.mark.parametrize(("third", "clock", "expected"), [
    (500, 100, [100, 100, 500]), (50, 100, [50, 50, 50]), (500, 15, [15, 20, 500]),
    (None, 100, [100, 100, 100])])
def test_flows_that_are_passed_have_saved_no_share(third, clock, expected):
    """They begin anew, but stay before the flow that is served, if any."""
    lib, fair, nodes = parts(), CFair(clock=clock), [CFairNode(tag=tag) for tag in (10, 20, 30)]
    nodes[2].tag = third or 30
    for node in nodes:
        lib.htbs_fair_insert(byref(fair), byref(node))
    lib.htbs_fair_pass(byref(fair), byref(nodes[2]) if third else None)
    assert [node.tag for node in nodes] == expected


# Service times.

@given(st.lists(st.tuples(st.integers(0, 2 * SECOND), st.integers(512, 1 << 22), st.booleans()),
                max_size=300))
def test_an_estimate_stays_within_what_a_device_may_take(requests):
    """However long a request takes, an estimate is at most a second; none becomes negative."""
    lib, time = parts(), CService()
    lib.htbs_service_time_init(byref(time), 20 * MS)
    for took, size, positioned in requests:
        lib.htbs_service_time_learn(byref(time), took, size, positioned)
        assert time.position <= SECOND
        assert time.deviation <= SECOND
        assert time.stream <= 2 * SECOND


def test_bytes_transferred_during_a_positioning():
    """The initial estimate is 100 MB/s; transfers that take no time cause no division by 0."""
    lib, time = parts(), CService()
    lib.htbs_service_time_init(byref(time), 20 * MS)
    assert lib.htbs_service_time_bytes(byref(time)) == 10 * MS // 10
    for _ in range(10_000):
        lib.htbs_service_time_learn(byref(time), 0, 4096, False)
    assert lib.htbs_service_time_bytes(byref(time)) >= 100 * (10 * MS // 10)


def test_a_spin_up_is_not_believed():
    lib, time = parts(), CService()
    lib.htbs_service_time_init(byref(time), 20 * MS)
    longest = lib.htbs_service_time_longest(byref(time))
    lib.htbs_service_time_learn(byref(time), 10 * SECOND, 4096, True)
    assert lib.htbs_service_time_longest(byref(time)) < 2 * longest
    for _ in range(64):
        lib.htbs_service_time_learn(byref(time), 10 * MS, 4096, True)
    assert lib.htbs_service_time_longest(byref(time)) < longest


def test_a_constant_time_is_learned():
    lib, time = parts(), CService()
    lib.htbs_service_time_init(byref(time), 20 * MS)
    for _ in range(1000):
        lib.htbs_service_time_learn(byref(time), 5 * MS, 4096, True)
        lib.htbs_service_time_learn(byref(time), 40_000, 4096, False)
    assert time.stream == pytest.approx(10_000, rel=0.02)
    assert time.position == pytest.approx(5 * MS - 40_000, rel=0.02)
    assert time.deviation < MS // 10


@given(st.integers(0, (1 << 62) - 1), st.integers(0, 20 * MARGIN_ONE))
def test_the_margin_is_a_root(variance, margin):
    found = parts().htbs_load_margin(variance, margin)
    assert found == margin * (isqrt(variance) << 10) // MARGIN_ONE


@given(st.lists(st.tuples(st.integers(1, 30 * SECOND), st.integers(0, SECOND)), min_size=1))
def test_the_fastest_of_the_last_minute_or_two(steps):
    """No slower than any request of the last minute, no faster than all of the last two."""
    lib, fastest, now, seen = parts(), CFastest(), SECOND, []
    for passed, took in steps:
        now += passed
        seen.append((now, took or 1))
        lib.htbs_fastest_learn(byref(fastest), now, took)
        time = lib.htbs_fastest_time(byref(fastest))
        assert time <= min(each for at, each in seen if now - at <= 64 * SECOND)
        assert time >= min(each for at, each in seen if now - at <= 150 * SECOND)


def test_the_fastest_is_forgotten_while_a_flow_is_idle():
    """A service time of hours ago does not tell how long a request takes now."""
    lib, fastest = parts(), CFastest()
    lib.htbs_fastest_learn(byref(fastest), SECOND, 1000)
    lib.htbs_fastest_learn(byref(fastest), 3600 * SECOND, 5000)
    assert lib.htbs_fastest_time(byref(fastest)) == 5000


def test_a_deadline_in_flight_is_that_of_a_request_in_flight():
    """If two are due at the same time, the completed one is taken to have the later deadline."""
    lib, deadlines = parts(), CDeadlines()
    for at in (10, 40):
        lib.htbs_deadlines_add(byref(deadlines), at, 100)
    lib.htbs_deadlines_remove(byref(deadlines), 100)
    assert lib.htbs_deadlines_between(byref(deadlines), 0, 20)
    lib.htbs_deadlines_remove(byref(deadlines), 100)
    assert not lib.htbs_deadlines_between(byref(deadlines), 0, 100)
