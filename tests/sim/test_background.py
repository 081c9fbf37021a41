"""The background: requests of the idle class use what others leave, and make none of them late."""

from dataclasses import replace

import pytest

from tests.model.reservation import SECOND, Params
from tests.sim.loads import ALL_OVER, LITTLE, REGIONS, poisson
from tests.sim.sim import HTBS, MS, REGION, Client, run

IDLE = Client(Params(4096, 4096, MS), idle=True)
FAR = {"region": 10, "span": (REGIONS - 11) * REGION}


@pytest.mark.parametrize(("client", "late"), [
    ({"depth": 32}, 4), ({"depth": 32, "write": True}, 2),
    ({"depth": 8, "size": 1 << 20, "sequential": True}, 0)], ids=["random", "writes", "stream"])
def test_it_makes_no_request_late_on_a_disk_that_queues(client, late):
    """A reader with a reservation, beside as many background requests as the drive queues.

    With seeds 1 to 8, 1 or 2 of 840 requests are late, 0 or 1 beside writes, and none beside a
    stream. The bound is twice as many.
    """
    reader = Client(Params(160 << 10, 4096, 60 * MS), times=poisson(20, 60))
    got, idle = run([reader, replace(IDLE, **FAR, **client)], drive="nearline").clients
    assert got.late <= late
    assert got.conforming > 700
    assert idle.ios > 0


def test_it_makes_no_request_late_on_flash():
    """However many requests the background has: a window limits them.

    With seeds 1 to 8, 6 to 14 of 41,000 requests are late; at most 28 may be.
    """
    reader = Client(Params(8 << 20, 64 << 10, 2 * MS))
    got, idle = run([reader, replace(IDLE, depth=64)], replace(HTBS, t_wait=0), 20,
                    drive="tlc").clients
    assert got.late <= 28
    assert got.bytes > 0.98 * 20 * reader.promise.bw
    assert idle.bytes > 20 * 100e6


def test_a_reader_does_not_pay_for_time_beside_the_background():
    """While the background has the device no flow is active.

    A flow that begins then lacks no share.
    """
    reader = Client(LITTLE, think=5 * MS, **ALL_OVER)
    later = Client(LITTLE, begin=100 * SECOND, depth=4, **ALL_OVER)
    got, *_ = run([reader, later, replace(IDLE, **FAR, depth=4)], seconds=130).clients
    assert got.wait_max < SECOND // 2
