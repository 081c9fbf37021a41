"""Random groups beside random neighbours: tenants.py."""

import pytest

from tests.sim import tenants
from tests.sim.tenants import FLASH_SECONDS, SECONDS, Got

# Two ranges, because one of them may be easier than the average.
SETS = [*range(100_000, 100_050), *range(200_000, 200_050)]
FLASH_SETS = [*range(1, 31), *range(100_000, 100_030)]


def test_random_groups_get_what_they_reserved():
    """Of a thousand sets from each of these numbers on, 11 and 9 are missed: 1 in 100.

    Of these hundred one is missed; two may be, twice as many as on average.
    """
    assert len(tenants.missed(list(tenants.measure_all(SETS, flash=False)))) <= 2


def test_a_reader_is_on_time_beside_relaxed_writes():
    """Relaxed writes are surplus.

    Otherwise they fill the drive's cache, and the overload does not end.
    """
    [reader] = tenants.measure(100_472, flash=False)
    assert reader.late <= 1
    assert reader.conforming > 700


def test_a_reader_is_on_time_on_a_disk_that_stalls():
    """It cleans for 476 ms after 50 writes.

    Without room for that 6 of the reader's 49 requests are late.
    """
    [reader] = tenants.measure(144, flash=False)
    assert reader.late <= 3
    assert reader.conforming > 40


def test_random_groups_get_what_they_reserved_on_flash():
    """Of 1,200 sets 67 are missed, 1 in 18.

    The reason is the drive's own work or the default reservation. Of these sixty four are missed,
    and at most four may be; 3.3 are to be expected.
    """
    assert len(tenants.missed(list(tenants.measure_all(FLASH_SETS, flash=True)))) <= 4


@pytest.mark.parametrize(("got", "missed"), [
    (Got(0, 1000, 1), False), (Got(3, 10, 1), False), (Got(4, 1000, 1), True),
    (Got(4, 10_000, 1), False), (Got(0, 1000, 0.94), True), (Got(0, 0, 1), False),
])
def test_what_counts_as_missed(got, missed):
    """One in a thousand may be late, and three of however few."""
    assert bool(got.missed) == missed


@pytest.mark.parametrize("flash", [False, True])
def test_groups_submit_no_more_than_they_reserved(flash):
    """So a drive that serves all requests at once keeps every set."""
    seconds = FLASH_SECONDS if flash else SECONDS
    for seed in range(50):
        for tenant in tenants.draw_set(seed, flash, seconds).groups:
            assert tenants.asked(tenant.client, seconds) <= 1.02 * tenant.client.promise.bw + (
                tenant.client.promise.burst / seconds)
