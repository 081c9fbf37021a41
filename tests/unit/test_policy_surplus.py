"""Single decisions of the policy, checked by hand: how much surplus a device may have."""

from ctypes import c_uint64, c_void_p
from itertools import pairwise

import pytest

from tests.model.reservation import COST_MIN, SECOND, Params
from tests.unit.desk import MS, SOON, SPARE, Desk
from tests.unit.host import CSent, Request

ONE = 1 << 32  # HTBS_LIMIT_ONE


@pytest.mark.parametrize(("every", "after", "expected"), [
    (100 * MS, 900 * MS, True), (100 * MS, 1100 * MS, False),
    (5 * SECOND, 9 * SECOND, True), (5 * SECOND, 11 * SECOND, False),
    (100 * SECOND, 63 * SECOND, True), (100 * SECOND, 65 * SECOND, False)])
def test_a_request_is_expected_for_twice_as_long_as_the_last_took(flash, every, after, expected):
    """It is expected for a second to about a minute. The surplus of others is limited meanwhile."""
    tight, other = flash.init_flow(SOON), flash.init_flow(SPARE)
    for _ in range(4):
        flash.now += every
        flash.arrive(tight)
        flash.serve(MS)
    flash.now += after - MS
    for _ in range(8):
        flash.arrive(other)
    went = 0
    while flash.dispatch():
        went += 1
    assert (went < 8) is expected


def test_the_window_doubles_with_a_request_in_time(flash):
    """A flow with rare requests doubles it; several within 50 ms add one each."""
    tight, other = flash.init_flow(SOON), flash.init_flow(SPARE)
    flash.arrive(tight)
    flash.serve(MS)
    windows = []
    for after in (SECOND, SECOND, SECOND, MS, MS):
        flash.now += after
        for _ in range(64 if not windows else 8):
            flash.arrive(other)
        while flash.dispatch():
            pass
        flash.arrive(tight)
        flash.serve(MS)
        windows.append(flash.device.window.value >> 32)
    steps = [two - one for one, two in pairwise(windows)]
    assert steps[:2] == [windows[0] + 1, windows[1] + 1]
    assert steps[2:] == [1, 1]


def flood(flash, write, shared=False):
    """A conforming reader, and a flood that is held back."""
    tight = flash.init_flow(SOON._replace(latency=MS))
    greedy = flash.init_flow(None if shared else SPARE)
    if shared:
        flash.device.configure_pool(greedy, SPARE, flash.now)
    flash.device.quota.limit.value, flash.device.window.value = 1 << 20, 4 * ONE
    flash.arrive(tight)
    flash.serve()
    for _ in range(60):
        flash.arrive(greedy, size=65536, write=write)
    while flash.dispatch():
        pass
    assert flash.device.view().held
    return tight, greedy


def test_writes_beyond_their_quota_are_held(flash):
    """They are held until the quota has filled; owed requests are dispatched."""
    tight, greedy = flood(flash, write=True)
    at = flash.device.timer()
    assert flash.now < at <= flash.now + SECOND
    flash.arrive(tight)
    assert flash.serve() is tight
    assert not flash.dispatch()
    quota = flash.device.quota
    filled = quota.filled + -quota.tokens * SECOND // quota.limit.value
    while not (served := flash.dispatch()):
        flash.now = flash.device.timer()
        assert not flash.device.timeout(flash.now)
    assert served[0] is greedy
    assert filled <= flash.now < filled + 2 * MS


def test_writes_beyond_their_quota_are_held_on_a_device_that_seeks(desk):
    """A volatile cache still has to write them to the medium; a reader is not held back."""
    writer, reader = (desk.init_flow(SPARE._replace(weight=weight)) for weight in (10_000, 1))
    tight = desk.init_flow(SOON)
    desk.read(reader, 8, took=MS)
    desk.now += SECOND
    desk.device.quota.limit.value = 1 << 20
    desk.arrive(tight)
    desk.serve()
    for place in range(20):
        desk.arrive(writer, place << 20, sync=False, size=65536, write=True)
    served = 0
    while desk.serve() is writer:
        served += 1
    assert 2 <= served <= 4
    assert desk.device.view().held
    assert desk.now < desk.device.timer() <= desk.now + SECOND
    desk.arrive(reader, 1 << 30, sync=False)
    assert desk.serve() is reader


def test_reads_beyond_their_window_are_held(flash):
    """They are held until a read completes; owed requests are dispatched."""
    tight, _ = flood(flash, write=False)
    assert flash.device.view().in_flight == 4
    assert flash.device.timer() > flash.now
    flash.arrive(tight)
    served = flash.dispatch()
    assert served[0] is tight
    assert not flash.dispatch()
    flash.device.complete(*served, flash.now)
    assert not flash.device.view().held


@pytest.mark.parametrize("write", [False, True])
def test_a_queue_that_has_to_be_emptied_has_no_limits(flash, write):
    """No conforming request for which surplus is held back can arrive."""
    _, greedy = flood(flash, write)
    assert flash.device.drain(True)
    while greedy.queue:
        assert flash.dispatch()[0] is greedy
    for drains, how in ((True, "dispatched"), (False, "held")):
        flash.device.drain(drains)
        request = Request(65536, write=write)
        assert flash.device.dispatch_arriving(greedy, request, flash.now) == how


def test_a_device_that_seeks_is_emptied_without_limits(desk):
    """It does not keep room for a request that cannot arrive, and does not wait for one."""
    writer, reader = desk.init_flow(SPARE), desk.init_flow(SOON)
    desk.read(reader, 8, took=MS)
    desk.device.quota.limit.value = 1 << 16
    for place in range(20):
        desk.arrive(writer, place << 20, sync=False, size=65536, write=True)
    assert desk.dispatch() is None
    assert desk.device.view().wait == "arrival"
    desk.now = desk.device.timer()
    while desk.dispatch():
        pass
    assert desk.device.view().held
    desk.arrive(reader, 1 << 30)
    assert desk.device.drain(True)
    while writer.queue or reader.queue:
        assert desk.dispatch()


def test_a_drain_does_not_release_a_request_that_waits_for_a_tag(flash):
    """The driver has no tag, however soon the queue has to be empty."""
    flash.arrive(flash.init_flow(SPARE))
    flash.device.hold_for_tag()
    assert flash.device.drain(True)
    assert flash.device.view().held


def test_a_request_behind_others_of_its_flow_releases_nothing(flash):
    """The head is the same as before. A new head may be one that can be dispatched."""
    _, greedy = flood(flash, write=False)
    flash.arrive(greedy)
    assert flash.device.view().held
    flash.arrive(flash.init_flow(SPARE))
    assert not flash.device.view().held


def test_only_a_completion_releases_a_request_that_waits_for_a_tag(flash):
    """The driver has no tag, whichever request arrives."""
    one, other = flash.init_flow(SPARE), flash.init_flow(SPARE)
    flash.arrive(one)
    sent = flash.dispatch()
    flash.device.hold_for_tag()
    flash.arrive(other)
    assert flash.device.view().held
    flash.device.complete(*sent, flash.now)
    assert not flash.device.view().held


def stuck(flash, latency, surplus=False, served=1):
    """A reader's request that never completes, after `served` that did, beside a flood."""
    reader, greedy = flash.init_flow(Params(4 << 20, 4096, latency)), flash.init_flow(SPARE)
    for _ in range(served - 1):
        flash.arrive(reader)
        flash.serve(took=MS // 10)
        flash.now += MS
    flash.arrive(reader)
    flash.serve(took=MS // 10)
    flash.now += 0 if surplus else MS
    flash.arrive(reader)
    sent = flash.dispatch()
    assert sent[0] is reader
    assert sent[1].conforms != surplus
    for place in range(100):
        flash.arrive(greedy, place << 20)
    flash.device.window.value, flash.device.window.part = 64 * ONE, 16


@pytest.mark.parametrize("after", [SECOND // 2, 2 * SECOND])
def test_limits_hold_while_a_request_is_in_flight(flash, after):
    """The flow's next conforming request is expected however long this one takes."""
    stuck(flash, 10 * SECOND)
    flash.now += after
    while flash.dispatch():
        pass
    assert flash.device.view().in_flight == 64


@pytest.mark.parametrize("before", [(False, 1), (True, 1), (False, 80)],
                         ids=["conforms", "surplus", "kept before"])
@pytest.mark.parametrize(("latency", "every", "steps"), [
    (10 * MS, 10 * MS, 5), (20 * MS, 10 * MS, 2), (SECOND, 10 * MS, 0), (SECOND, 500 * MS, 4),
])
def test_a_request_that_does_not_complete_lowers_the_window(
    flash, latency, every, steps, before,
):
    """It lowers the window once per latency if its flow is a latency behind.

    The request itself may tell nothing for seconds. This is so even if the flow had its bandwidth
    before.
    """
    stuck(flash, latency, *before)
    assert steps_down(flash, every, stalls=False) == steps


def test_a_device_that_stalls_lowers_the_window_once_at_most(flash):
    """A flow falls behind during a stall, whatever the limits are."""
    stuck(flash, 10 * MS)
    assert steps_down(flash, 10 * MS, stalls=True) <= 1


def steps_down(flash, every, stalls):
    """Count how often the window falls in six times `every`, for a flow that may be behind."""
    window, lowered = flash.device.window, 0
    sent = [flash.dispatch() for _ in range(10)]
    for _ in range(6):
        flash.now += every // 2
        if not stalls:
            flash.device.complete(*sent.pop(), flash.now)
        flash.now += every // 2
        window.value = 64 * ONE
        flash.dispatch()  # may be owed
        flash.dispatch()
        lowered += window.value < 64 * ONE
    return lowered


def test_an_idle_flow_lowers_no_limit(flash):
    """It is behind its pace because it submits nothing."""
    reader, greedy = flash.init_flow(Params(4 << 20, 4096, MS)), flash.init_flow(SPARE)
    flash.arrive(reader)
    flash.serve(took=MS // 10)
    for place in range(4):
        flash.arrive(greedy, place << 20)
    window = flash.device.window
    window.value = 64 * ONE
    for _ in range(4):
        flash.now += 10 * MS
        assert flash.dispatch()
    assert window.value == 64 * ONE


@pytest.mark.parametrize("relaxed", [False, True])
def test_no_request_of_a_relaxed_flow_is_expected_while_it_is_busy(desk, relaxed):
    """It always has requests, but is owed next to none of them."""
    greedy = desk.init_flow(SOON._replace(bw=(100 << 20) if relaxed else 4096))
    for place in range(50):
        desk.arrive(greedy, place << 30)
        assert desk.serve(10 * MS) is greedy
    for place in range(20):
        desk.arrive(greedy, place << 30)
    assert greedy.view().relaxed == relaxed
    desk.now += 2 * SECOND
    expected = desk.device.lib.htbs_policy_expected
    expected.restype, expected.argtypes = c_void_p, (c_void_p, c_void_p, c_uint64)
    assert expected(desk.device.policy, None, desk.now) == (None if relaxed else greedy.address)


def test_limits_for_the_sake_of_a_flow_do_not_limit_it(flash):
    """The flow is dispatched even though a flow that the limits hold back comes first.

    The flow has no reservation of its own, and had no conforming request recently.
    """
    tight, _ = flood(flash, write=False, shared=True)
    flash.now += 2 * SECOND
    for place in range(8):
        flash.arrive(tight, place << 20)
    sent = [flash.dispatch() for _ in range(8)]
    assert all(flow is tight for flow, _ in sent)
    assert not sent[-1][1].conforms
    assert not flash.dispatch()


def test_a_flow_does_not_limit_its_own_surplus(flash):
    """It has the drive alone, even though some of its requests conform."""
    flow = flash.init_flow(SOON)
    for place in range(16):
        flash.arrive(flow, place << 20)
    for _ in range(16):
        assert flash.dispatch()
    assert not flash.device.view().held


def test_a_random_write_costs_the_quota_a_positioning(desk):
    """During a positioning; no disk does the 256 random writes a second of 1 MiB/s."""
    writer, costs = desk.init_flow(SPARE), []
    for position in (0, 8, 1 << 30):
        desk.arrive(writer, position, write=True, sync=False)
        before = desk.device.quota.bytes
        desk.dispatch()
        costs.append(desk.device.quota.bytes - before)
    assert costs[1] == COST_MIN
    assert costs[2] > 100 * COST_MIN


def test_a_stale_timer_does_not_release_a_held_request(flash):
    """The timer may have been set for an earlier time."""
    flood(flash, write=True)
    assert not flash.device.timeout(flash.device.timer() - 1)
    assert flash.device.view().held


def test_a_slow_request_lowers_the_window_a_late_one_the_quota(flash):
    """A conforming request that takes 4/5 of its time is slow, but not one that takes half of it.

    Before that, the first slow request ends the growth of the quota.
    """
    tight = flash.init_flow(SOON._replace(latency=MS))
    quota, window = flash.device.quota, flash.device.window
    quota.limit.value, window.value = 1 << 30, 8 * ONE
    before = quota.limit.value, window.value
    flash.arrive(tight)
    flash.serve(took=MS // 2)
    assert (quota.limit.value, window.value) == before
    for grows in (True, False):
        window.value = 8 * ONE
        before = quota.limit.value, window.value
        flash.now += SECOND
        quota.since = flash.now  # something was written
        quota.limit.full = window.full = grows
        flash.arrive(tight)
        flash.serve(took=MS * 4 // 5)
        assert quota.limit.value == before[0] // (2 if grows else 1)
        assert window.value < before[1]
    flash.now += SECOND
    quota.since = flash.now
    flash.arrive(tight)
    flash.serve(took=MS * 6 // 5)
    assert quota.limit.value < before[0]


@pytest.mark.parametrize("late", [10, 100, 1000, 100_000])
@pytest.mark.parametrize("rotational", [False, True])
def test_limits_follow_from_how_many_may_be_late(lib, rotational, late):
    """If 3/4 of its time makes a request slow, the 3/4th power of the late part may be slow."""
    device = Desk(lib, rotational=rotational).device
    device.set_late(late, 2 * late)
    slow = int(late**0.75)
    assert device.window.rarity == slow
    assert device.quota.limit.rarity == (slow if rotational else 2 * late)


def test_a_slow_request_lowers_the_quota_of_a_device_that_seeks(desk):
    """Not only the first slow request lowers it, but each later one, too."""
    tight = desk.init_flow(SOON._replace(latency=100 * MS))
    quota = desk.device.quota
    for _ in range(2):
        quota.limit.value = 1 << 30
        desk.now += SECOND
        quota.since = desk.now  # something was written
        desk.arrive(tight)
        desk.serve(took=80 * MS)
        assert quota.limit.value < 1 << 30


def test_surplus_in_flight_puts_no_flow_behind_its_pace(flash):
    """Two large requests, one of them owed: the flow has had its reservation, and more."""
    flow = flash.init_flow(Params(1 << 20, 1 << 17, 100 * MS))
    window = flash.device.window
    window.value = 8 * ONE
    for pos in (0, 1 << 20):
        flash.arrive(flow, pos, size=120 << 10)
    first, second = flash.dispatch(), flash.dispatch()
    assert first[1].sent.flags & CSent.PACED
    assert not second[1].sent.flags & CSent.PACED
    flash.now += MS
    flash.device.complete(*first, flash.now)
    assert window.value >= 8 * ONE


@pytest.mark.parametrize("tighter", [False, True])
def test_a_request_in_time_raises_the_limits_unless_a_tighter_one_is_expected(flash, tighter):
    """With a longer latency all are in time; but if there is no other flow it has to judge."""
    flow = flash.init_flow(SPARE._replace(latency=2 * SECOND))
    flash.arrive(flow)
    served = flash.dispatch()
    flash.now += SECOND
    if tighter:
        flash.arrive(flash.init_flow(SOON._replace(latency=SECOND)))
        flash.serve()
    quota = flash.device.quota
    quota.limit.value, quota.limit.full = 1 << 20, True
    flash.device.complete(*served, flash.now)
    assert (quota.limit.value > 1 << 20) != tighter


@pytest.mark.parametrize(("raised", "part"), [(0, 64), (1, 64), (4, 16), (100, 2)])
def test_a_slow_request_lowers_by_as_many_steps_as_others_raised(flash, raised, part):
    """Otherwise late requests of a flow with few would be hidden by those of a flow with many."""
    rare, busy = (flash.init_flow(Params(100 << 20, 4096, latency)) for latency in (2 * MS, MS))
    window, quota = flash.device.window, flash.device.quota
    window.part = quota.limit.part = 64
    for flow in [busy] * 3 + [rare] + [busy] * raised:
        flash.arrive(flow)
        window.full = True
        flash.serve()
        flash.now += MS
    flash.arrive(rare)
    served = flash.dispatch()
    assert served[0] is rare
    flash.now += 4 * MS
    window.value = quota.limit.value = 1 << 40
    quota.since, quota.used = flash.now, 1 << 40
    flash.device.complete(*served, flash.now)
    assert quota.limit.value == (1 << 40) - (1 << 40) // part


def test_a_flow_with_the_shortest_latency_raises_the_limits(flash):
    """A request of either flow raises them, because a slow one of either lowers them."""
    flows = [flash.init_flow(SPARE._replace(latency=SECOND)) for _ in range(2)]
    quota = flash.device.quota
    for flow in flows:
        flash.arrive(flow)
    for served in [flash.dispatch() for _ in flows]:
        quota.limit.value, quota.limit.full = 1 << 20, True
        flash.device.complete(*served, flash.now + MS)
        assert quota.limit.value > 1 << 20


@pytest.mark.parametrize("write", [True, False])
def test_the_background_is_limited_like_any_surplus(flash, write):
    """It has no reservation, so none of its requests is owed."""
    tight, background = flash.init_flow(SOON._replace(latency=MS)), flash.device.background
    flash.device.quota.limit.value, flash.device.window.value = 1 << 20, 4 * ONE
    flash.arrive(tight)
    flash.serve()
    for _ in range(20):
        flash.arrive(background, size=65536, write=write)
    went = 0
    while flash.dispatch():
        went += 1
    assert went == (1 if write else 4)
    assert flash.device.view().held


def test_the_background_leaves_room_on_a_device_that_seeks(desk):
    """Like all surplus it leaves room for an expected request, even if it has waited for long."""
    tight, background = desk.init_flow(SOON._replace(latency=15 * MS)), desk.device.background
    for place in range(8):
        desk.arrive(background, place << 30)
    desk.now += 5 * SECOND
    desk.arrive(tight)
    assert desk.serve(MS) is background
    assert desk.serve(MS) is tight
    assert not desk.dispatch()
    assert desk.device.cancel_wait()
    assert desk.dispatch()
    assert not desk.dispatch()


def test_a_flow_with_requests_in_flight_saves_up_a_second_at_most(flash):
    """Otherwise a flow that used less than its share would have the device until it caught up."""
    one, other = (flash.init_flow(None) for _ in range(2))
    flash.device.configure_pool(one, SPARE._replace(weight=100), flash.now)
    flash.arrive(one)
    assert flash.dispatch()[0] is one
    flash.arrive(other)
    flash.serve(10 * MS)
    step = other.view().share - one.view().share
    for _ in range(1000):
        flash.arrive(other)
        assert flash.serve(10 * MS) is other
    assert other.view().share - one.view().share > 900 * step
    flash.arrive(one)
    assert other.view().share - one.view().share < 120 * step


@pytest.mark.parametrize("idled", [True, False])
def test_a_flow_does_not_pay_for_time_alone_on_the_device(desk, idled):
    """It does not pay even if no flow was active after its requests.

    Either a wait ended, or the background was dispatched. Otherwise a flow that begins later would
    have the device for as long.
    """
    one, other = (desk.init_flow(SPARE._replace(weight=100)) for _ in range(2))
    for place in range(200):
        desk.arrive(one, place << 30)
        desk.serve(10 * MS)
        if idled:
            desk.device.cancel_wait()
        else:
            desk.now += SECOND
            desk.arrive(desk.device.background)
            assert desk.serve(MS) is desk.device.background
        assert desk.device.view().active is None or idled
    step = one.view().share // 200
    desk.arrive(other, 7 << 40)
    assert one.view().share - other.view().share < 30 * step


def test_service_times_include_the_transfer_on_a_device_that_does_not_seek(flash):
    """The transfer of 1 MiB is part of that time, of which the background has a part."""
    flow = flash.init_flow(SPARE)
    for _ in range(300):
        flash.arrive(flow, size=1 << 20)
        flash.serve(3 * MS)
    assert flash.device.service.position == pytest.approx(3 * MS, rel=0.1)


def test_a_stall_is_charged_to_no_flow(flash):
    """Otherwise the flow of the first request to complete would have no share for as long."""
    flow = flash.init_flow(SPARE._replace(weight=100))
    for _ in range(100):
        flash.arrive(flow)
        flash.serve(MS)
    share = flow.view().share
    flash.arrive(flow)
    flash.serve(3 * SECOND)
    assert flow.view().share - share < share / 20


def test_limits_do_not_grow_while_a_conforming_request_is_in_flight(flash):
    """Its completion judges the limits, however long the request takes."""
    tight, other = flash.init_flow(SOON._replace(latency=100 * SECOND)), flash.init_flow(SPARE)
    flash.device.window.value = 2 * ONE
    flash.arrive(tight)
    served = flash.dispatch()
    assert served[0] is tight
    for _ in range(8):
        flash.arrive(other)
    for _ in range(40):
        flash.now += 100 * MS
        flash.dispatch()
        assert flash.device.window.value <= 2 * ONE


@pytest.mark.parametrize(("latency", "after", "surplus"), [
    (SECOND, 30, 0), (SECOND, 32, 64), (5 * SECOND, 32, 0),
])
def test_a_request_that_never_completes_limits_no_surplus(flash, latency, after, surplus):
    """Its task may not poll for it. It limits no surplus 30 s after its latency."""
    lost, other = flash.init_flow(SOON._replace(latency=latency)), flash.init_flow(SPARE)
    flash.device.window.value = 2 * ONE
    flash.arrive(lost)
    assert flash.dispatch()[0] is lost
    flash.now += after * SECOND
    for place in range(65):
        flash.arrive(other, place << 20)
    assert flash.dispatch()[0] is other  # owed
    count = 0
    while flash.dispatch():
        count += 1
    assert count == surplus


def test_a_new_flow_lowers_the_window_by_one_step(flash):
    """It does so even if the limits were raised often before it had a reservation."""
    promise = Params(1 << 30, 1 << 20, 200 * MS)
    old, window = flash.init_flow(promise), flash.device.window
    window.part, window.value, window.threshold = 64, 64 * ONE, 0
    for _ in range(40):
        window.full = True
        flash.arrive(old)
        flash.serve(MS // 10)
        flash.now += MS
    new = flash.init_flow(promise)
    for _ in range(70):
        flash.arrive(old)
        flash.dispatch()
    before = window.value
    flash.arrive(new)
    served = flash.dispatch()
    flash.device.complete(*served, flash.now + 170 * MS)
    assert 0.97 * before < window.value < before
