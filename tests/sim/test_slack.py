"""The rule of slack on the simulated disk: deadlines kept, throughput kept, overload handled.

`python -m tests.sim` prints the numbers behind the bounds asserted here.
"""

import pytest

from tests.model.reservation import SECOND, Params
from tests.sim.loads import MIXED, OVERLOAD_MIXED, OVERLOAD_RANDOM, PAIR, boundary, unlimited, until
from tests.sim.sim import MS, PAPER, Client, Knobs, Run, run
from tests.unit.strategies import part


def test_pair_is_faster_than_by_count():
    """slack-disk: at least 1.8 times the throughput of policy=paper with B_max 20, none late."""
    paper, slack = run(PAIR, PAPER), run(PAIR)
    assert slack.late() == paper.late() == 0
    assert slack.total >= 1.8 * paper.total


def test_mixed_load_is_faster_than_by_count():
    """mixed-disk: seven sequential and four random readers get no less than with policy=paper."""
    paper, slack = run(MIXED, PAPER), run(MIXED)
    assert slack.late() == paper.late() == 0
    assert slack.total >= paper.total


def test_b_max_and_t_wait_are_upper_bounds():
    """With small values policy=slack does the same as policy=paper, as no deadline is near."""
    lazy = [Client(Params(819_200, 8192, 2 * SECOND), sequential=True),
            Client(Params(204_800, 8192, 2 * SECOND))]
    for b_max, t_wait in ((20, 10 * MS), (1, 0), (20, 0)):
        paper, slack = (run(lazy, Knobs(rule, b_max, t_wait)) for rule in ("paper", "slack"))
        assert slack.rates() == paper.rates()


@pytest.mark.parametrize(("greedy", "bunch"), [(0, 1), (1, 1), (2, 1), (0, 8), (2, 8)])
def test_admitted_sets_are_on_time(greedy, bunch):
    """boundary: in 100 admitted sets, no conforming request of 10 s is late.

    Some clients read sequentially, as fast as the others leave them. The requests of the others
    arrive one at a time, or as many at once as conform.
    """
    for seed in range(part(100)):
        outcome = run(boundary(seed, 10, bunch, greedy), seconds=10, seed=seed + 1)
        assert outcome.late() == 0, f"seed {seed}"
        assert outcome.whole.overloads == 0


def shares(clients: list[Client], outcome: Run) -> list[float]:
    """The part of each client of the throughput, over its part of the reservations."""
    reserved = sum(client.promise.bw for client in clients)
    return [rate / outcome.total / (client.promise.bw / reserved)
            for client, rate in zip(clients, outcome.rates(), strict=True)]


@pytest.mark.parametrize("clients", [OVERLOAD_RANDOM, OVERLOAD_MIXED])
def test_overload(clients):
    """overload: detected, throughput as with policy=paper, shares by bandwidth, waits bounded.

    `mean` is the time for the requests that a client has under way. A request waits for two and a
    half times that: a sweep may pass it for twice as many requests, and each run begins with the
    oldest. Others may be ahead by half a second of virtual time, which takes a second, as twice as
    much is reserved as the disk does.
    """
    paper, slack = run(clients, PAPER, seconds=120), run(clients, seconds=120)
    assert slack.whole.overloads == 1
    assert slack.whole.overload_ns > 119 * SECOND
    assert slack.total >= 0.9 * paper.total
    assert shares(clients, slack) == pytest.approx([1] * 10, abs=0.03)

    for client, rate, got in zip(clients, slack.rates(), slack.clients, strict=True):
        mean = client.depth * client.size / rate
        assert got.wait_max < (2.5 * mean + 1) * SECOND


@pytest.mark.parametrize("habits", [
    {"sequential": True, "size": 128 << 10}, {"sequential": True, "size": 128 << 10, "depth": 4},
    {"depth": 1}, {"depth": 16},
], ids=str)
def test_no_flow_counts_for_more_than_the_disk(habits):
    """A client with a small reservation gets an equal part of it, and waits for a turn of each."""
    clients = unlimited(**habits)
    paper, slack = run(clients, PAPER), run(clients)
    assert slack.whole.overload_ns > 40 * SECOND
    # Clients that catch up are always pending, and cost slack as many seeks as the paper's rule.
    assert slack.total >= 0.95 * paper.total
    for client, rate, got in list(zip(clients, slack.rates(), slack.clients, strict=True))[7:]:
        assert rate >= client.promise.bw / len(clients)
        assert got.wait_max < len(clients) * 8 * slack.whole.seek


def test_recovery():
    """The overload ends when the backlog is served; from there on no request is late."""
    calm = [Client(Params(819_200, 65536, 200 * MS), sequential=True, region=31),
            Client(Params(100_000, 8192, 100 * MS), rate=60_000, begin=23 * SECOND, region=34)]
    outcome = run([*until(OVERLOAD_RANDOM, 20), *calm])
    assert outcome.whole.overloads == 1
    assert 20 * SECOND < outcome.whole.overload_end < 23 * SECOND
    assert outcome.clients[-1].conforming > 400
    assert outcome.clients[-1].late == 0


@pytest.mark.parametrize(("seek", "late"), [(0, 10), (MS, 0), (20 * MS, 0), (200 * MS, 0)])
def test_initial_phase(seek, late):
    """The estimate of a seek is soon right, whatever its first value."""
    for clients in (PAIR, MIXED):
        short, long = (run(clients, Knobs(seek=seek), seconds) for seconds in (5, 120))
        assert short.late() == long.late() <= late
        assert long.whole.seek == pytest.approx(run(clients, seconds=120).whole.seek, rel=0.2)
        assert long.total > 0.8 * run(clients, seconds=120).total


def test_an_impossible_reservation_hurts_itself():
    """A latency of 2 ms is less than a seek: that client is late, the others are not."""
    outcome = run([Client(Params(819_200, 65536, SECOND), sequential=True),
                   Client(Params(80_000, 4096, 100 * MS), rate=40_000),
                   Client(Params(80_000, 4096, 2 * MS), rate=40_000)])
    assert outcome.clients[2].late > 0.9 * outcome.clients[2].conforming
    assert outcome.clients[0].late == outcome.clients[1].late == 0
    assert outcome.whole.overloads == 0


def test_repeats_exactly():
    """The same load gives the same numbers."""
    one, other = run(MIXED), run(MIXED)
    assert [bytes(client) for client in one.clients] == [bytes(client) for client in other.clients]
