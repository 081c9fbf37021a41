"""Weights on the simulated drives: surplus is shared by weight, and deadlines are kept.

`python -m tests.sim` prints the numbers behind the bounds asserted here.
"""

import pytest

from tests.model.reservation import SECOND, Params
from tests.sim.loads import REST, queueing_disk
from tests.sim.sim import PAPER, SLACK, Client, Knobs, run

SEQUENTIAL = Params(100_000, 8192, SECOND)
RANDOM = Params(20_000, 8192, SECOND)


def test_a_disk_that_reorders():
    """ncq-disk: weights of 1 and 200 for a writer and a reader with equal reservations.

    The writer still gets the 1 MB/s that both have reserved. The throughput is compared with that
    of reservations of 0.5 and 100 MB/s.
    """
    by_bandwidth = run(queueing_disk(60, REST._replace(bw=1 << 19), REST._replace(bw=100 << 20)),
                       drive="nearline")
    by_weight = run(queueing_disk(60, REST._replace(weight=1), REST._replace(weight=200)),
                    drive="nearline")
    assert by_weight.late() == by_bandwidth.late() == 0
    assert by_weight.clients[0].conforming > 700
    assert by_weight.total > 0.9 * by_bandwidth.total
    _, writer, reader = by_weight.rates()
    assert (reader - REST.bw) / (writer - REST.bw) == pytest.approx(200, rel=0.1)


@pytest.mark.parametrize("knobs", [PAPER, SLACK], ids=lambda knobs: knobs.rule)
@pytest.mark.parametrize("given", [(100, 100), (100, 300), (50, 1000)])
@pytest.mark.parametrize(("promise", "client"), [
    (SEQUENTIAL, {"sequential": True, "size": 65536, "depth": 4}),
    (SEQUENTIAL, {"sequential": True, "size": 65536}),
    (RANDOM, {"depth": 4}),
], ids=["sequential", "synchronous", "random"])
def test_readers(promise: Params, client: dict, given: tuple[int, int], knobs: Knobs):
    """Also for readers that think between two reads, for which the disk is kept idle."""
    readers = [Client(promise._replace(weight=weight), **client) for weight in given]
    one, other = (rate - promise.bw for rate in run(readers, knobs).rates())
    assert other / one == pytest.approx(given[1] / given[0], rel=0.06)
