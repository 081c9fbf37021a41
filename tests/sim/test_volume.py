"""A cloud volume, which is sold by operations and bytes a second, and queues what exceeds them."""

from dataclasses import replace

import pytest

from tests.model.reservation import SECOND
from tests.sim.loads import REST, in_steps
from tests.sim.sim import HTBS, MS, Client, Plain, run

KNOBS = replace(HTBS, t_wait=0, seeks=False)
# 3000 operations and 125 MB a second; and 300 operations, with credit for half a minute.
PLENTY = Plain(128, MS * 4 // 10, MS * 9 // 10, SECOND // 3000, 1024 * SECOND // (125 << 20))
FEW = replace(PLENTY, each=SECOND // 300, burst=30 * SECOND)
# The reservation shared by all groups without one, as an operator sets it if the volume has little
# more than 256 requests a second.
FEW_SHARED = REST._replace(bw=128 << 10, burst=64 << 10)


def beside(shared, write=False, size=4096, depth=64, **of):
    """A client without a reservation of its own."""
    return Client(shared, size=size, depth=depth, write=write, think=2000, shares=True, **of)


def loads(shared):
    """Return clients without a reservation of their own, by name."""
    return {"reads": [beside(shared)], "writes": [beside(shared, write=True)],
            "stream": [beside(shared, size=256 << 10, depth=16, sequential=True)],
            "large writes": [beside(shared, write=True, size=128 << 10)]}


@pytest.mark.parametrize("which", list(loads(REST)))
@pytest.mark.parametrize(("volume", "shared", "part"), [
    (PLENTY, REST, 0.5), (FEW, FEW_SHARED, 0.2),
], ids=["plenty", "few"])
@pytest.mark.parametrize("latency", [10 * MS, 30 * MS], ids=["10ms", "30ms"])
def test_a_reservation_is_kept_and_the_volume_used(volume, shared, part, which, latency):
    """The queue is in the hypervisor: without limits a read waits for all requests of others in it.

    Reservations are kept after the credit is used up, too; one volume has credit for a minute. The
    limits are found in the first seconds.
    """
    rate, seconds = SECOND // volume.each // 6, 240
    reader = in_steps(rate, latency, seconds, burst=16384)
    others = loads(shared)[which]
    alone = run(others, KNOBS, 60, drive=volume)
    first, both = (run([reader, *others], KNOBS, each, drive=volume) for each in (5, seconds))
    assert both.clients[0].late - first.clients[0].late <= both.clients[0].conforming / 100
    assert first.clients[0].late <= first.clients[0].conforming / 4
    assert both.clients[0].ios >= seconds * rate - 16
    assert both.rates()[1] > part * alone.total
