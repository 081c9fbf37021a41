"""Weights on the simulated drives: surplus is shared by weight, and deadlines are kept.

`python -m tests.sim` prints the numbers behind the bounds asserted here.
"""

import pytest

from tests.model.reservation import SECOND, Params
from tests.sim.loads import REGIONS, REST, queueing_disk
from tests.sim.sim import MS, REGION, Client, run

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


ALL_OVER = {"region": 0, "span": (REGIONS - 1) * REGION}
LITTLE = Params(4096, 4096, SECOND)
BESIDE = {
    "deep": {"depth": 32, **ALL_OVER},
    "stream": {"sequential": True, "size": 131_072, "region": 20},
}


@pytest.mark.parametrize("drive", ["hd080hj", "nearline"])
@pytest.mark.parametrize("weights", [(100, 100), (300, 100), (100, 300)], ids=str)
@pytest.mark.parametrize("neighbour", BESIDE)
def test_a_random_reader_with_one_request_at_a_time_has_its_share(drive, weights, neighbour):
    """Of device time, beside a neighbour that always has requests pending; and so has that."""
    reader = Client(LITTLE._replace(weight=weights[0]), **ALL_OVER)
    other = Client(LITTLE._replace(weight=weights[1]), **BESIDE[neighbour])
    alone = [run([each], seconds=20, drive=drive).total for each in (reader, other)]
    parts = [had / all_ for had, all_ in zip(run([reader, other], seconds=20, drive=drive).rates(),
                                             alone, strict=True)]
    for part, weight in zip(parts, weights, strict=True):
        assert part > 0.75 * weight / sum(weights)


def test_readers_with_one_request_at_a_time_share_a_drive_that_queues():
    """Those that have as much as others are not served one by one."""
    reader = Client(LITTLE, **ALL_OVER)
    outcome = run([reader] * 8, seconds=20, drive="nearline")
    assert outcome.total > 2 * run([reader], seconds=20, drive="nearline").total
    assert min(outcome.rates()) > 0.9 * max(outcome.rates())
