"""Flows without a reservation share one: htbs/core/pool.c."""

import pytest

from tests.model.reservation import COST_MIN, SECOND, Params
from tests.unit.desk import MS, RUN, SOON, SPARE, Desk

# A burst is four blocks, and a block is reserved each second.
SHARED = Params(COST_MIN, 4 * COST_MIN, SECOND)


@pytest.fixture
def disk(lib):
    """A device that seeks: 10 ms at most by the initial estimate."""
    return Desk(lib)


def pooled(desk, count, shared=SHARED):
    """Return some flows without a reservation of their own."""
    flows = [desk.init_flow(None) for _ in range(count)]
    desk.device.configure_pool(flows[0], shared, desk.now)
    return flows


def queue(desk, flow, count, pos=0):
    """Requests arrive, far from each other."""
    for i in range(count):
        desk.arrive(flow, pos + (i << 20))


def dispatched(desk, count, took=MS):
    """Return the next dispatched requests, one at a time, each with its flow."""
    found = []
    for _ in range(count):
        flow, request = desk.dispatch()
        found.append((flow, request))
        desk.now += took
        desk.device.complete(flow, request, desk.now)
    return found


def longest_run(served, flow):
    """Return the largest number of requests of a flow in a row."""
    longest = run = 0
    for each in served:
        run = run + 1 if each is flow else 0
        longest = max(longest, run)
    return longest


def test_a_pool_is_owed_one_reservation(flash):
    """Three flows have twice the burst pending, each; four requests in all conform."""
    flows = pooled(flash, 3)
    for flow in flows:
        queue(flash, flow, 8)
    assert sum(request.conforms for _, request in dispatched(flash, 24)) == 4


@pytest.mark.parametrize("members", [1, 3])
def test_a_pool_has_one_weight(flash, members):
    """Beside a flow with the same reservation a pool has half of the surplus."""
    flows = pooled(flash, members)
    own = flash.init_flow(SHARED)
    for flow in (*flows, own):
        queue(flash, flow, 64)
    served = [flow for flow, _ in dispatched(flash, 60)]
    assert served.count(own) == pytest.approx(30, abs=4)
    assert min(map(served.count, flows)) >= 30 / members - 3


def test_the_flows_of_a_pool_are_owed_requests_in_turn(flash):
    """It does not matter how many requests a flow has pending, or how early they arrived."""
    greedy, modest = pooled(flash, 2)
    queue(flash, greedy, 4)
    queue(flash, modest, 2)
    served = [flow for flow, _ in dispatched(flash, 4)]
    assert served == [greedy, modest, greedy, modest]


def test_surplus_is_shared_by_device_time(flash):
    """In a pool as elsewhere: a flow whose requests take nine times as long has a ninth of them."""
    slow, quick = pooled(flash, 2)
    had = {slow: 0, quick: 0}
    for flow in had:
        queue(flash, flow, 4)
    for _ in range(1000):
        flow, request = flash.dispatch()
        flash.now += 9 * MS if flow is slow else MS
        flash.device.complete(flow, request, flash.now)
        had[flow] += 1
        flash.arrive(flow)
    assert had[quick] / had[slow] == pytest.approx(9, rel=0.05)


def test_a_pool_has_the_deadline_of_its_pace(flash):
    """A flow with a reservation goes first if its latency is shorter, else the pool does."""
    [member] = pooled(flash, 1)
    sooner, later = flash.init_flow(SOON), flash.init_flow(SOON._replace(latency=2 * SECOND))
    for flow in (later, member, sooner):
        flash.arrive(flow)
    assert [flow for flow, _ in dispatched(flash, 3)] == [sooner, member, later]


def test_the_pool_is_configured_with_requests_pending(flash):
    """Its deadlines are those of the new reservation at once, whichever flow's turn it is."""
    member, idle = pooled(flash, 2)
    other = flash.init_flow(SOON)
    flash.arrive(member)
    flash.arrive(other)
    assert member.view().deadline == flash.now + SHARED.latency
    flash.device.configure_pool(idle, SHARED._replace(latency=MS), flash.now)
    assert member.view().deadline == flash.now + MS
    assert [flow for flow, _ in dispatched(flash, 2)] == [member, other]


def test_a_flow_leaves_the_pool_with_its_requests(flash):
    """From then on they are owed by its own reservation, and the pool is owed the rest."""
    leaves, stays = pooled(flash, 2)
    queue(flash, leaves, 4)
    queue(flash, stays, 4)
    flash.device.configure(leaves, SHARED, flash.now)
    conform = [flow for flow, request in dispatched(flash, 8) if request.conforms]
    assert conform.count(leaves) == conform.count(stays) == 4


def test_a_flow_joins_the_pool_with_its_requests(flash):
    """Its pending requests take part in what the pool is owed, once."""
    [stays] = pooled(flash, 1)
    joins = flash.init_flow(SOON)
    queue(flash, joins, 4)
    queue(flash, stays, 4)
    flash.device.configure(joins, None, flash.now)
    conform = [flow for flow, request in dispatched(flash, 8) if request.conforms]
    assert conform == [stays, joins, stays, joins]


def test_a_throttled_flow_joins_the_pool(flash):
    """The cap ends with its reservation."""
    pooled(flash, 1)
    capped = flash.init_flow(SPARE._replace(max=COST_MIN))
    queue(flash, capped, 3)
    assert flash.serve() is capped
    assert flash.serve() is None
    flash.device.configure(capped, None, flash.now)
    assert [flow for flow, _ in dispatched(flash, 2)] == [capped] * 2


def test_a_flow_of_a_pool_ends(flash):
    """The pool continues, and is owed as much as before."""
    ends, stays = pooled(flash, 2)
    flash.arrive(ends)
    assert flash.serve() is ends
    flash.device.exit_flow(ends)
    queue(flash, stays, 8)
    assert sum(request.conforms for _, request in dispatched(flash, 8)) == 3


def test_a_pool_behind_its_pace_is_served_in_runs(disk):
    """Like any flow. But no flow has more than a run while another one has requests pending."""
    flows = pooled(disk, 2, Params(409_600, 1 << 20, 300 * MS))
    rival = disk.init_flow(SPARE)
    for flow in flows:
        queue(disk, flow, 200)
    disk.arrive(rival)
    disk.now += 500 * MS
    served = [flow for flow, _ in dispatched(disk, 150, 5 * MS)]
    assert served[:8] == [served[0]] * 8
    for flow in flows:
        assert served.count(flow) > 50
        assert RUN / 2 < longest_run(served, flow) < 2 * RUN


def test_new_weights_hold_at_once(flash):
    """The time that the pool's flows had was over another weight, so they begin anew."""
    one, other = pooled(flash, 2, SHARED._replace(weight=1))
    rival = flash.init_flow(SPARE._replace(weight=1))
    for flow in (one, other):
        queue(flash, flow, 100)
    dispatched(flash, 30)
    queue(flash, rival, 100)
    flash.device.configure_pool(one, SHARED._replace(weight=10_000), flash.now)
    assert [flow for flow, _ in dispatched(flash, 40)].count(rival) <= 2
