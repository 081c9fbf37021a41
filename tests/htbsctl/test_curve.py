"""The smallest arrival curves, compared with the definition; the proposed reservations."""

import shlex
from argparse import Namespace

from hypothesis import given
from hypothesis import strategies as st

from htbsctl import curve
from htbsctl.commands import fit
from htbsctl.curve import Arrival, Curve

SECOND = 10**9
arrivals = st.lists(
    st.tuples(st.integers(0, SECOND), st.integers(4096, 1 << 20)), min_size=2, max_size=40
).map(lambda steps: [Arrival(time, cost) for time, cost in sorted(steps)])


def by_definition(found, bw):
    """Return by how much arrivals in any time exceed bw times that time, at most."""
    return max(
        sum(each.cost for each in found[first : last + 1])
        - bw * (found[last].time - found[first].time) / SECOND
        for first in range(len(found))
        for last in range(first, len(found))
    )


@given(arrivals, st.integers(1, 1 << 30))
def test_the_burst_is_the_smallest(found, bw):
    exact = by_definition(found, bw)
    assert exact - 1 <= curve.burst(found, bw) <= exact + 1


@given(arrivals)
def test_more_bandwidth_needs_no_more_burst(found):
    curves = curve.trade_off(found)
    bursts = [each.burst for each in curves]
    assert bursts == sorted(bursts, reverse=True)
    assert curve.knee(curves) in curves


def test_a_steady_reader():
    """4 KiB each 10 ms: 400 KiB/s, and a burst of one request."""
    found = [Arrival(at * SECOND // 100, 4096) for at in range(200)]
    best = curve.knee(curve.trade_off(found))
    assert abs(best.bw - 409_600) < 4096
    assert 4096 <= best.burst <= 8192


def test_names_with_blanks_are_quoted():
    """A proposed command is meant to be pasted."""
    args = Namespace(target="app one.slice/$x", device="/mnt/two words")
    answer = {
        **{"group": "/app", "device": "sdb", "requests": 9, "mean_bw": 1, "latency_p99_us": 1},
        **{"bw": 4096, "burst": 4096, "latency": 1000},
    }
    best = Curve(4096, 4096)
    command = fit._text(answer, [best], best, args).splitlines()[-1]
    assert shlex.split(command)[2:4] == [args.target, args.device]
