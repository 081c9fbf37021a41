"""The window on simulated drives that queue: deadlines kept, and what that costs.

`python -m tests.sim` prints the numbers behind the bounds asserted here.
"""

import pytest

from tests.sim.loads import FLASH_READ, FLASH_WRITE, REST, queueing_disk
from tests.sim.sim import MS, PAPER, Client, Knobs, run


@pytest.mark.parametrize(("writer", "reader"),
                         [(REST, REST),
                          (REST._replace(bw=1 << 19), REST._replace(bw=100 << 20))])
def test_a_disk_that_reorders(writer, reader):
    """ncq-disk: no read is late beside greedy clients; without a window a third is."""
    clients = queueing_disk(60, writer, reader)
    paper, slack = run(clients, PAPER, drive="nearline"), run(clients, drive="nearline")
    assert paper.late() > 0.3 * paper.clients[0].conforming
    assert slack.late() == 0
    assert slack.clients[0].conforming > 700


def test_a_reader_with_the_larger_reservation_has_the_disk():
    """Reservations of 0.5 and 100 MB/s: 90 % of the throughput without a window."""
    clients = queueing_disk(60, REST._replace(bw=1 << 19), REST._replace(bw=100 << 20))
    paper, slack = run(clients, PAPER, drive="nearline"), run(clients, drive="nearline")
    assert slack.total > 0.9 * paper.total


def test_flash():
    """flash-read: a reader at depth 1 is on time, beside four at depth 64.

    Some requests are late before the window has found its size. From then on it costs a quarter of
    the throughput at full depth: if as many requests are in flight as keep all 8 dies busy, a
    request waits for more than a millisecond.
    """
    slack = Knobs(t_wait=0, seek=MS)
    paper = Knobs("paper", 20, 0, MS)
    fast, timely = (run(FLASH_READ, knobs, 2, drive="tlc") for knobs in (paper, slack))
    assert fast.late() > 0.5 * fast.clients[0].conforming
    assert timely.late() < 0.002 * timely.clients[0].conforming
    assert timely.clients[0].bytes > 10 * fast.clients[0].bytes
    assert timely.total > 0.7 * fast.total


def test_flash_that_collects_garbage():
    """flash-write: with windows all clients are as fast as without.

    One block in a hundred finds a die that erases, which takes 3.8 ms, so it is late with any
    window. If reads and writes had one window, late requests would shrink it until surplus reads
    waited for the writes.
    """
    slack, paper = Knobs(t_wait=0, seek=MS), Knobs("paper", 20, 0, MS)
    for more in ([], [Client(REST, depth=8, think=2000, region=2)]):
        clients = [*FLASH_WRITE, *more]
        fast, timely = (run(clients, knobs, 4, drive="tlc") for knobs in (paper, slack))
        assert timely.clients[0].late < 0.01 * timely.clients[0].conforming
        assert timely.clients[0].ios > 0.95 * fast.clients[0].ios
        assert timely.clients[0].wait_max < 1.1 * fast.clients[0].wait_max
        assert timely.total > 0.95 * fast.total


def test_without_conforming_requests_there_is_no_window():
    """Four clients at full depth have the throughput of the whole drive."""
    paper, slack = (run(FLASH_READ[1:], Knobs(rule, 20, 0, MS), 2, drive="tlc")
                    for rule in ("paper", "slack"))
    assert slack.total > 0.98 * paper.total
