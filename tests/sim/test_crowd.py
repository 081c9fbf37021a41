"""Many that read on in different places of a disk that takes many requests.

The numbers that these bars are about are printed by `python -m tests.sim`.
"""

import pytest

from tests.sim.loads import crowd
from tests.sim.sim import MS, PAPER, run


@pytest.mark.parametrize(("readers", "late"), [(5, 0), (7, 0.0001)])
def test_a_crowd_is_in_time_and_fast(readers, late):
    """A seek each takes longer at worst than they have: in runs all the same, as by the paper.

    With one request at a time each the drive would serve for ever those that it reaches first.
    """
    clients = crowd(readers)
    paper, slack = run(clients, PAPER, drive="nearline"), run(clients, drive="nearline")
    assert slack.total > 0.9 * paper.total
    assert slack.late() <= late * sum(client.conforming for client in slack.clients)
    assert max(client.wait_max for client in slack.clients) < 125 * MS
    assert max(slack.rates()) < 1.2 * min(slack.rates())


@pytest.mark.parametrize("depth", [2, 8])
def test_runs_of_readers_with_many_in_flight(depth):
    """The drive is given no others' meanwhile: the paper's rules lose all but a fiftieth."""
    clients = crowd(7, depth, latency=1000 * MS)
    paper, slack = run(clients, PAPER, drive="nearline"), run(clients, drive="nearline")
    assert slack.late() == 0
    assert slack.total > 20 * paper.total
