"""Latencies from ftrace's histograms: counting new requests, and a map that is full."""

import os
from collections import Counter

import pytest

from htbsctl.latency import Latencies, percentile

EVENT = f"synthetic/htbsctl_latency_{os.getpid()}"
DIRECTORY = f"/sys/kernel/tracing/instances/htbsctl-{os.getpid()}/events/{EVENT}"
HEAD = "# event histogram\n\n"
LINE = "{{ dev: {dev:10}, group: {group:10}, lat: ~ {low}-{high} }} hitcount: {hits:10}\n"
SDB = 8 << 20 | 16


def histogram(*buckets, dropped=0):
    """Return the content of the file hist; a bucket: group, upper end in ns, count."""
    lines = [
        LINE.format(dev=SDB, group=group, low=high - 999, high=high, hits=hits)
        for group, high, hits in buckets
    ]
    return f"{HEAD}{''.join(lines)}\nTotals:\n    Hits: 9\n    Entries: 2\n    Dropped: {dropped}\n"


@pytest.fixture
def latencies(host):
    """Latencies counted by two histograms."""
    host.put(f"{DIRECTORY}/trigger")
    found = Latencies(host)
    for condition in ("lat < 1000", "lat >= 1000"):
        found.trigger(EVENT, f"hist:keys=dev,group,lat.buckets=1000:size=16384 if {condition}")
    return found


def test_counts_since_the_last_call(host, latencies):
    host.put(f"{DIRECTORY}/hist", histogram((42, 999, 3), (42, 1999, 1)))
    assert latencies.since_last() == {("8:16", 42): Counter({1000: 3, 2000: 1})}
    host.put(f"{DIRECTORY}/hist", histogram((42, 999, 5), (42, 1999, 1), (43, 999, 2)))
    assert latencies.since_last() == {
        ("8:16", 42): Counter({1000: 2}),
        ("8:16", 43): Counter({1000: 2}),
    }


def test_a_full_map_is_emptied_and_counted_from_0(host, latencies):
    host.put(f"{DIRECTORY}/hist", histogram((42, 999, 3), dropped=7))
    assert latencies.since_last() == {("8:16", 42): Counter({1000: 3})}
    written = host.read(f"{DIRECTORY}/trigger").splitlines()
    assert written[2:] == [
        "hist:keys=dev,group,lat.buckets=1000:size=16384:clear if lat < 1000",
        "hist:keys=dev,group,lat.buckets=1000:size=16384:clear if lat >= 1000",
    ]
    host.put(f"{DIRECTORY}/hist", histogram((42, 999, 2)))
    assert latencies.since_last() == {("8:16", 42): Counter({1000: 2})}


def test_percentiles():
    counter = Counter({1000: 98, 2000: 1, 9000: 1})
    assert percentile(counter, 0.5) == 1000
    assert percentile(counter, 0.99) == 2000
    assert percentile(counter, 1) == 9000
    assert percentile(Counter(), 0.5) is None
