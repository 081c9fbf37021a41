"""No request starves: each is dispatched within its bound, whatever conforms.

The bound (htbs/core/expire.c) is EXPIRE + (N + 1) * max(2 * R + T_wait, 1 ms), with N requests
pending or in flight. R is the longest time that the drive takes for a request, or its estimate,
which is no more than twice that.
"""

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from tests.model.reservation import SECOND, Params
from tests.sim.loads import REST
from tests.sim.sim import MS, Client, Knobs, Plain, Run, run
from tests.unit.strategies import examples

EXPIRE = 30 * SECOND
SECONDS = 75  # more than twice EXPIRE

promises = st.tuples(st.sampled_from([4096, 40_000, 400_000, 1 << 20, 100 << 20, 1 << 34]),
                     st.sampled_from([4096, 16_384, 1 << 20]),
                     st.sampled_from([2 * MS, 15 * MS, 100 * MS, SECOND, 60 * SECOND]),
                     st.sampled_from([0, 0, 1, 1000])).map(lambda numbers: Params(*numbers))
clients = st.builds(Client, promises, st.booleans(), st.sampled_from([4096, 65_536, 1 << 20]),
                    st.sampled_from([1, 2, 4, 8, 16]),
                    st.sampled_from([0, 30_000, 3 * MS, 500 * MS]), write=st.booleans(),
                    stagger=st.sampled_from([0, MS, 3 * MS]))
crews = st.builds(lambda crew, idle: [*crew, *idle], st.lists(clients, min_size=2, max_size=7),
                  st.lists(st.builds(Client, st.just(Params(4096, 4096, MS)),
                                     depth=st.sampled_from([1, 16, 64]), write=st.booleans(),
                                     idle=st.just(True)), max_size=1))
drives = st.builds(lambda depth, most, part: Plain(depth, most // part, most),
                   st.sampled_from([1, 2, 8, 32, 64]),
                   st.sampled_from([2 * MS, 10 * MS, 100 * MS, 300 * MS]),
                   st.sampled_from([1, 2, 50]))
tunings = st.builds(Knobs, st.just(0), st.sampled_from([0, 10 * MS]),
                    st.sampled_from([MS, 20 * MS]), st.booleans())

# Conforming readers that keep the quotas low, beside clients with surplus.
TIGHT = Client(Params(100 << 20, 1 << 20, 15 * MS), depth=8, think=0, stagger=3 * MS)
SPARE = [Client(Params(400 << 10, 16 << 10, 100 * MS), depth=4, think=0),
         Client(Params(1 << 20, 1 << 20, SECOND), depth=4, think=0)]
FLASH = Knobs(t_wait=0, seek=MS, seeks=False)
NULL = Plain(64, 10 * MS, 10 * MS)

# The device completes a request each 100 ms, and an expired head may be dispatched each 570 ms.
SMALL, LARGE = Params(4096, 4096, 2 * MS), Params(40_000, 4096, 2 * MS)
ROUNDED = [*[Client(SMALL, think=0)] * 3, Client(SMALL, size=1 << 20, think=0),
           Client(LARGE, depth=4, think=0), Client(SMALL, depth=64, idle=True)]


def bound(crew: list[Client], knobs: Knobs, drive: Plain, result: Run) -> int:
    """Return the longest possible time from arrival to completion of a request."""
    longest = max(2 * drive.most, knobs.seek, result.whole.seek_most)
    under_way = sum(each.depth for each in crew)
    return EXPIRE + (under_way + 1) * (2 * longest + knobs.t_wait)


@examples(60)
@given(crew=crews, knobs=tunings, drive=drives)
@example(crew=[TIGHT, *SPARE], knobs=FLASH, drive=NULL)
@example(crew=ROUNDED, knobs=Knobs(t_wait=0, seek=MS), drive=Plain(2, 100 * MS, 100 * MS))
def test_each_request_is_dispatched_within_its_bound(crew, knobs, drive):
    """Random groups, depths and device times."""
    result = run(crew, knobs, SECONDS, drive=drive)
    most = bound(crew, knobs, drive, result)
    assert max(client.wait_max for client in result.clients) <= most


def test_a_held_write_does_not_delay_expired_heads():
    """With a quota of 1 MiB/s a write of 1 MiB is held for a second; another waits for it."""
    knobs, drive = replace(FLASH, quota=1 << 20), Plain(1, 2 * MS, 2 * MS)
    crew = [Client(Params(400 << 10, 4096, 100 * MS), rate=200 << 10),
            *[Client(Params(4096, 4096, SECOND), size=1 << 20, depth=16, write=True)] * 4]
    result = run(crew, knobs, SECONDS, drive=drive)
    assert max(client.wait_max for client in result.clients) <= bound(crew, knobs, drive, result)


def test_surplus_gets_its_reservation_beside_tight_readers():
    """A quota that late requests have lowered does not hold back reserved requests."""
    tight, *spare = run([TIGHT, *SPARE], FLASH, SECONDS, drive=NULL).clients
    assert tight.conforming >= tight.ios
    assert tight.late == 0
    for client, depth in zip(spare, (4, 4), strict=True):
        closed_loop = depth * SECOND // NULL.most * 4096
        assert client.bytes >= 0.97 * min(client.promise.bw, closed_loop) * SECONDS
        assert client.wait_max < SECOND


def test_the_background_has_its_part_of_surplus():
    """One request of the background is dispatched in each sixteenth of the time.

    If fewer were dispatched, 192 pending requests would wait longer than the hung task timeout.
    """
    reader = Client(REST, depth=8, think=0, shares=True)
    for depth, most in ((41, 9 * SECOND), (192, 36 * SECOND)):
        idle = Client(Params(4096, 4096, MS), depth=depth, write=True, idle=True)
        drive = Plain(1, 10 * MS, 10 * MS)
        busy, background = run([reader, idle], FLASH, 120, drive=drive).clients
        assert background.wait_max < most
        assert busy.ios > 0.9 * 120 * SECOND / drive.most


def test_the_background_expires_like_any_request():
    """Beside reservations that lowered the limits it has no part.

    It waits no longer than any other.
    """
    reader = Client(Params(100 << 20, 1 << 20, 15 * MS), depth=2, think=0)
    idle = Client(Params(4096, 4096, MS), depth=192, write=True, idle=True)
    drive = Plain(1, 10 * MS, 10 * MS)
    busy, background = run([reader, idle], FLASH, 120, drive=drive).clients
    assert background.wait_max < 36 * SECOND
    assert busy.ios > 0.9 * 120 * SECOND / drive.most
