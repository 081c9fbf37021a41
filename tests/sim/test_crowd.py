"""Many sequential readers in different places of a disk that queues.

`python -m tests.sim` prints the numbers behind the bounds asserted here.
"""

import pytest

from tests.sim.loads import crowd
from tests.sim.sim import MS, PAPER, run


@pytest.mark.parametrize(("readers", "late"), [(5, 0.001), (7, 0.001)])
def test_a_crowd_is_in_time_and_fast(readers, late):
    """A seek for each request would take longer than the latency, so runs go on in a crowd.

    They are as long as by the paper's rule.
    """
    clients = crowd(readers)
    paper, htbs = run(clients, PAPER, drive="nearline"), run(clients, drive="nearline")
    assert htbs.total > 0.9 * paper.total
    assert htbs.late() <= late * sum(client.conforming for client in htbs.clients)
    assert max(client.wait_max for client in htbs.clients) < 125 * MS
    assert max(htbs.rates()) < 1.2 * min(htbs.rates())


@pytest.mark.parametrize("depth", [2, 8])
def test_runs_of_readers_with_many_in_flight(depth):
    """In a run the drive has no requests of other flows; the paper's rule gets a fiftieth."""
    clients = crowd(7, depth, latency=1000 * MS)
    paper, htbs = run(clients, PAPER, drive="nearline"), run(clients, drive="nearline")
    assert htbs.late() <= sum(client.conforming for client in htbs.clients) / 1000
    assert htbs.total > 20 * paper.total
