"""Weights on the simulated drives: surplus is shared by weight, and deadlines are kept.

`python -m tests.sim` prints the numbers behind the bounds asserted here.
"""

import pytest

from tests.model.reservation import SECOND, Params
from tests.sim.loads import REST, queueing_disk
from tests.sim.sim import MS, Client, run

SEQUENTIAL = Params(100_000, 8192, SECOND)
RANDOM = Params(20_000, 8192, SECOND)


def test_a_disk_that_reorders():
    """ncq-disk: weights of 1 and 200 for a writer and a reader with equal reservations.

    The writer gets next to nothing beyond the 1 MB/s that both have reserved, and the reader of
    small blocks is no later than without weights.
    """
    without = run(queueing_disk(60), drive="nearline")
    by_weight = run(queueing_disk(60, REST._replace(weight=1), REST._replace(weight=200)),
                    drive="nearline")
    for outcome in (without, by_weight):
        reader = outcome.clients[0]
        assert reader.late <= reader.conforming / 100
        assert reader.conforming > 700
    assert without.clients[0].percentile(99) < 75 * MS
    assert by_weight.total > without.total
    assert by_weight.rates()[1] < 2 * REST.bw


@pytest.mark.parametrize("given", [(100, 100), (100, 300)])
@pytest.mark.parametrize(("promise", "client"), [
    (SEQUENTIAL, {"sequential": True, "size": 65536, "depth": 4}),
    (SEQUENTIAL, {"sequential": True, "size": 65536}),
    (RANDOM, {"depth": 4}),
], ids=["sequential", "synchronous", "random"])
def test_readers(promise: Params, client: dict, given: tuple[int, int]):
    """Also for readers that think between two reads, for which the disk is kept idle.

    Device time is what is shared. A random reader with longer runs moves more in the same time.
    """
    readers = [Client(promise._replace(weight=weight), **client) for weight in given]
    one, other = (rate - promise.bw for rate in run(readers).rates())
    assert other / one == pytest.approx(given[1] / given[0], rel=0.15)
