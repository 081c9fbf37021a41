"""Many sequential readers in different places of a disk that queues.

`python -m tests.sim` prints the numbers behind the bounds asserted here.
"""

import pytest

from tests.sim.loads import crowd
from tests.sim.sim import MS, PAPER, run

RUN = 8  # of the longest positionings


@pytest.mark.parametrize("readers", [5, 7])
def test_a_crowd_is_in_time_and_fast(readers):
    """A seek for each request would take longer than the latency, so runs go on in a crowd.

    Runs are as long as by the paper's rule, for readers that reserve 4 MB/s each.
    """
    clients = crowd(readers, bw=4 << 20)
    paper, htbs = run(clients, PAPER, drive="nearline"), run(clients, drive="nearline")
    assert htbs.total > 0.9 * paper.total
    assert htbs.late() <= sum(client.conforming for client in htbs.clients) / 1000
    assert max(htbs.rates()) < 1.2 * min(htbs.rates())


@pytest.mark.parametrize("readers", [5, 7])
def test_a_crowd_that_reserves_too_much_shares_the_disk(readers):
    """They have no deadlines: each has a run in turn, which takes little time to position."""
    alone = run(crowd(1), drive="nearline")
    htbs = run(crowd(readers), drive="nearline")
    assert htbs.total > 0.9 * alone.total
    assert max(htbs.rates()) < 1.1 * min(htbs.rates())
    assert max(client.wait_max for client in htbs.clients) < 1.5 * readers * RUN * htbs.whole.seek


@pytest.mark.parametrize("depth", [2, 8])
def test_runs_of_readers_with_many_in_flight(depth):
    """During a run the drive has no requests of other flows; the paper's rule gets a fiftieth."""
    clients = crowd(7, depth, latency=1000 * MS)
    paper, htbs = run(clients, PAPER, drive="nearline"), run(clients, drive="nearline")
    assert htbs.late() <= sum(client.conforming for client in htbs.clients) / 1000
    assert htbs.total > 20 * paper.total
