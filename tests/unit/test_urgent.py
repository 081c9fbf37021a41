"""Requests that groups with a reservation may wait for: htbs/core/urgent.c."""

import pytest

from tests.model.reservation import COST_MIN, SECOND
from tests.unit.desk import LATER, MS, SOON, SPARE, Desk

PART, BURST = 4, 8


def conforms(desk, *flows):
    """A conforming request of each flow is served."""
    for flow in flows:
        desk.arrive(flow)
        assert desk.serve(MS // 2) is flow


def test_no_request_is_urgent_if_no_group_with_a_reservation_may_wait(desk):
    """After a second without a conforming request of these groups none is urgent, either."""
    assert desk.device.admit_urgent(COST_MIN, desk.now) is None
    conforms(desk, desk.init_flow(SOON))
    assert desk.device.admit_urgent(COST_MIN, desk.now) is not None
    desk.now += SECOND
    assert desk.device.admit_urgent(COST_MIN, desk.now) is None


def test_the_shortest_latency_is_inherited(desk):
    """It is the shortest latency of the reservations whose groups may wait."""
    later, soon = desk.init_flow(LATER), desk.init_flow(SOON)
    conforms(desk, later)
    assert desk.device.admit_urgent(COST_MIN, desk.now) == desk.now + LATER.latency
    conforms(desk, soon)
    assert desk.device.admit_urgent(COST_MIN, desk.now) == desk.now + SOON.latency


def test_no_urgent_request_waits_for_more_than_a_second(desk):
    """It is due after a second even if the group that waits for it has a longer latency."""
    conforms(desk, desk.init_flow(SOON._replace(latency=60 * SECOND)))
    assert desk.device.admit_urgent(COST_MIN, desk.now) == desk.now + SECOND


def test_urgent_requests_have_a_part_of_the_device(desk):
    """They have a quarter of its time, and a burst, however many there are."""
    flow = desk.init_flow(SOON._replace(bw=SOON.bw // 10))
    conforms(desk, flow)
    service, begun, took = desk.device.service, desk.now, 0
    while desk.now < begun + 10 * SECOND:
        conforms(desk, flow)
        for _ in range(100):
            desk.now += MS
            if desk.device.admit_urgent(COST_MIN, desk.now) is not None:
                took += service.position + (COST_MIN * service.stream >> 10)
    assert took / (desk.now - begun) == pytest.approx(1 / PART, rel=0.02)


def test_urgent_requests_have_a_burst(desk):
    """The burst is a few positionings."""
    conforms(desk, desk.init_flow(SOON))
    desk.now += SECOND // 2
    urgent = [desk.device.admit_urgent(COST_MIN, desk.now) for _ in range(2 * BURST)]
    assert sum(due is not None for due in urgent) in {BURST, BURST + 1}


def test_owed_requests_go_first(desk):
    """Owed requests go first while an urgent request can wait.

    The urgent request goes if there is time, or once it is due.
    """
    flow = desk.init_flow(SOON)
    conforms(desk, flow)
    due = desk.device.admit_urgent(COST_MIN, desk.now)
    assert desk.device.urgent_goes(COST_MIN, due, desk.now)
    desk.arrive(desk.init_flow(SPARE._replace(latency=15 * MS)))
    assert not desk.device.urgent_goes(COST_MIN, due, desk.now)
    assert not desk.device.urgent_goes(COST_MIN, due, due - 1)
    assert desk.device.urgent_goes(COST_MIN, due, due)


def test_no_urgent_request_waits_on_flash(lib):
    """Owed requests are not delayed there, either."""
    flash = Desk(lib, position=MS, t_wait=0, rotational=False)
    flow = flash.init_flow(SOON._replace(latency=MS))
    conforms(flash, flow)
    due = flash.device.admit_urgent(COST_MIN, flash.now)
    flash.arrive(flow)
    assert flash.device.urgent_goes(COST_MIN, due, flash.now)
