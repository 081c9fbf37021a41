"""Weights on the simulated drives: surplus is shared by weight, and deadlines are kept.

`python -m tests.sim` prints the numbers behind the bounds asserted here.
"""

import pytest

from tests.model.reservation import SECOND, Params
from tests.sim.loads import (
    ALL_OVER,
    BESIDE_A_DATABASE,
    LITTLE,
    REST,
    database_and,
    queueing_disk,
)
from tests.sim.sim import MS, Client, run

SEQUENTIAL = Params(100_000, 8192, SECOND)
RANDOM = Params(20_000, 8192, SECOND)


def test_a_disk_that_reorders():
    """ncq-disk: a writer and a reader with equal reservations and weights of 1 and 200.

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
    """This holds for readers that think between two reads, too, for which the disk is idled.

    Device time is shared. A random reader with longer runs moves more bytes in the same time.
    """
    readers = [Client(promise._replace(weight=weight), **client) for weight in given]
    one, other = (rate - promise.bw for rate in run(readers).rates())
    assert other / one == pytest.approx(given[1] / given[0], rel=0.15)


BESIDE = {
    "deep": {"depth": 32, **ALL_OVER},
    "stream": {"sequential": True, "size": 131_072, "region": 20},
}


@pytest.mark.parametrize("drive", ["hd080hj", "nearline"])
@pytest.mark.parametrize("weights", [(100, 100), (300, 100), (100, 300)], ids=str)
@pytest.mark.parametrize("neighbour", BESIDE)
def test_a_random_reader_with_one_request_at_a_time_has_its_share(drive, weights, neighbour):
    """It has its share of device time beside a neighbour that is always backlogged.

    The neighbour has its share, too.
    """
    reader = Client(LITTLE._replace(weight=weights[0]), **ALL_OVER)
    other = Client(LITTLE._replace(weight=weights[1]), **BESIDE[neighbour])
    alone = [run([each], seconds=20, drive=drive).total for each in (reader, other)]
    parts = [had / all_ for had, all_ in zip(run([reader, other], seconds=20, drive=drive).rates(),
                                             alone, strict=True)]
    for part, weight in zip(parts, weights, strict=True):
        assert part > 0.75 * weight / sum(weights)


def test_readers_with_one_request_at_a_time_share_a_drive_that_queues():
    """A flow that had as much as the others does not keep the device to itself."""
    reader = Client(LITTLE, **ALL_OVER)
    outcome = run([reader] * 8, seconds=20, drive="nearline")
    assert outcome.total > 2 * run([reader], seconds=20, drive="nearline").total
    assert min(outcome.rates()) > 0.9 * max(outcome.rates())


def beside_a_database(drive: str, weight: int, *others: str) -> dict:
    """Return the longest wait, s, and the bytes/s of each client, by name."""
    outcome = run(database_and(drive, weight, *others), seconds=40, drive=drive)
    assert outcome.clients[0].late <= 2
    return {name: (client.wait_max / SECOND, rate)
            for name, client, rate in zip(("database", *others), outcome.clients,
                                          outcome.rates(), strict=True)}


@pytest.mark.parametrize("weight", [1, 100])
@pytest.mark.parametrize("drive", ["hd080hj", "nearline"])
@pytest.mark.parametrize("others", [
    ("stream", "deep"), ("reader", "stream", "deep"), ("deep", "bursts")], ids=" ".join)
def test_a_reservation_beyond_a_share_takes_no_share_of_others(drive, weight, others):
    """Flows that are idle between two requests or bursts resume at the virtual time of the others.

    They do not resume at that of the database, whose reservation gives it more than its share.
    """
    had = beside_a_database(drive, weight, *others)
    assert max(wait for wait, _ in had.values()) < 3.5
    if "reader" in had:
        assert had["reader"][1] > 0.25 * had["deep"][1]
    if "stream" in had:
        assert had["stream"][1] > 10 * had["deep"][1]


@pytest.mark.parametrize("weight", [1, 100])
@pytest.mark.parametrize("drive", ["hd080hj", "nearline"])
@pytest.mark.parametrize("others", [
    ("stream", "writer"), ("reader", "deep", "writer"), ("deep", "writer", "bursts"),
    ("deep", "writer", "reader later"), ("deep", "writer", "deep later")], ids=" ".join)
def test_a_writer_that_the_quota_holds_back_saves_up_nothing(drive, weight, others):
    """Others do not wait for the share that it lacks, and do not begin at its virtual time."""
    had = beside_a_database(drive, weight, *others)
    del had["writer"]
    assert max(wait for wait, _ in had.values()) < 3.5


@pytest.mark.parametrize("neighbour", ["stream", "deep"])
def test_a_run_in_place_of_a_held_write_is_no_surplus(neighbour):
    """A run that begins with a request owed to the database ends with the owed ones, as always."""
    had = beside_a_database("hd080hj", 1, neighbour, "writer")
    assert had["database"][1] < 1.1 * 120_000


def test_a_flow_with_all_requests_in_flight_saves_up_nothing():
    """At times all requests of the reader are in flight: others then have the share it cannot use.

    If it saved up that share it would have the drive alone for seconds when another flow begins.
    """
    had = beside_a_database("nearline", 100, "deep", "writer", "reader later")
    assert had["deep"][0] < 0.5


def test_a_flow_that_begins_later_begins_where_others_are():
    """It would have the drive for seconds if it began at the virtual time of a held-back writer."""
    database = Client(Params(250_000, 16_384, 100 * MS, weight=100), depth=4, rate=125_000,
                      **ALL_OVER)
    later = Client(LITTLE._replace(weight=100), begin=30 * SECOND, depth=32, **ALL_OVER)
    clients = [database, BESIDE_A_DATABASE["deep"], BESIDE_A_DATABASE["writer"], later]
    outcome = run(clients, seconds=60, drive="nearline")
    assert outcome.clients[1].wait_max < 2 * SECOND
