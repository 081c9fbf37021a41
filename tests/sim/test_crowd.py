"""Many sequential readers in different places of a disk that queues.

`python -m tests.sim` prints the numbers behind the bounds asserted here.
"""

import pytest

from tests.sim.loads import crowd
from tests.sim.sim import MS, PAPER, run


@pytest.mark.parametrize(("readers", "late"), [(5, 0), (7, 0.0001)])
def test_a_crowd_is_in_time_and_fast(readers, late):
    """A seek for each request would take longer than the latency, so runs go on in a crowd.

    They are as long as with policy=paper. If each reader had one request at a time in flight, the
    drive would always serve the nearest ones.
    """
    clients = crowd(readers)
    paper, slack = run(clients, PAPER, drive="nearline"), run(clients, drive="nearline")
    assert slack.total > 0.9 * paper.total
    assert slack.late() <= late * sum(client.conforming for client in slack.clients)
    assert max(client.wait_max for client in slack.clients) < 125 * MS
    assert max(slack.rates()) < 1.2 * min(slack.rates())


@pytest.mark.parametrize("depth", [2, 8])
def test_runs_of_readers_with_many_in_flight(depth):
    """In a run the drive has no requests of other flows; policy=paper gets a fiftieth."""
    clients = crowd(7, depth, latency=1000 * MS)
    paper, slack = run(clients, PAPER, drive="nearline"), run(clients, drive="nearline")
    assert slack.late() == 0
    assert slack.total > 20 * paper.total
