"""Every decision can be seen: ftrace, blktrace and debugfs, and they agree with io.htbs.stat."""

import re
from collections import Counter

import pytest

from tests.vm import Result
from tests.vm.functional import Boot, htbs_stat

pytestmark = pytest.mark.guest

GUEST = Boot("trace", programs=("blktrace", "blkparse"))

GROUPS = ("random", "sequential", "writer")
EVENTS = {
    "tag", "merge", "dispatch", "complete", "switch",
    "wait_begin", "wait_end", "drift", "late", "config",
}  # fmt: skip


def _events(result: Result) -> list[tuple[str, dict[str, str]]]:
    """What ftrace recorded: the event's name without htbs_, and its fields."""
    lines = re.findall(r" htbs_(\w+): \S+ (.*)", result.text("trace"))
    return [(name, dict(word.split("=") for word in fields.split())) for name, fields in lines]


def _messages(result: Result) -> list[str]:
    """What blkparse printed of ours."""
    return re.findall(r" htbs (.*)", result.text("blkparse"))


def test_nothing_was_lost(result: Result) -> None:
    [(kept, written)] = re.findall(r"entries-in-buffer/entries-written: (\d+)/(\d+)", result.stdout)
    assert kept == written


def test_every_event_is_seen(result: Result) -> None:
    assert {name for name, _ in _events(result)} == EVENTS


def test_events_agree_with_statistics(result: Result) -> None:
    events = _events(result)
    for group in GROUPS:
        stat = htbs_stat(result.text(f"{group}.stat"))
        own = [
            (name, fields)
            for name, fields in events
            if fields.get("group") == result.text(f"{group}.id").strip()
        ]
        count = Counter(name for name, _ in own)
        assert count["config"] == 1
        assert count["tag"] + count["merge"] >= stat["inserted"]
        assert count["dispatch"] == stat["completed"] == count["complete"]
        assert count["late"] == stat["missed"]
        assert count["wait_begin"] == stat["waits"]
        ends = Counter(fields["outcome"] for name, fields in own if name == "wait_end")
        assert ends["hit"] == stat["hits"]
        assert ends.total() == count["wait_begin"]
        conforming = sum(name == "tag" and f["start"] == f["v"] for name, f in own)
        assert conforming >= stat["conforming"]


def test_events_agree_with_each_other(result: Result) -> None:
    """Times don't go back, a finish tag is behind its start tag, nobody is active twice."""
    latest = drift = 0
    for name, fields in _events(result):
        if "now" in fields:
            assert int(fields["now"]) >= latest, name
            latest = int(fields["now"])
        if name == "tag":
            assert int(fields["v"]) <= int(fields["start"]) < int(fields["finish"])
            assert int(fields["v"]) == int(fields["now"]) + drift
        if name == "drift":
            assert int(fields["drift"]) == drift + int(fields["jump"])
            drift = int(fields["drift"])


def test_blktrace_has_the_same(result: Result) -> None:
    ours = Counter(message.split()[0] for message in _messages(result))
    theirs = Counter(name for name, _ in _events(result))
    assert set(ours) == {"tag", "dispatch", "switch", "wait", "drift", "late", "config"}
    for name in ("tag", "dispatch", "switch", "drift", "late", "config"):
        assert ours[name] == theirs[name], name
    assert ours["wait"] == theirs["wait_begin"] + theirs["wait_end"]


def test_debugfs_shows_the_live_state(result: Result) -> None:
    text = result.text("debugfs")
    assert text.count("virtual clock") == 4
    assert re.search(r"group \d+: \d+ pending", text)
