"""Every decision is visible in ftrace, blktrace and debugfs, which agree with io.htbs.stat."""

import re
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.vm import Result
from tests.vm.functional import Boot, htbs_stat

pytestmark = pytest.mark.guest

GUEST = Boot("trace", programs=("blktrace",))

GROUPS = ("random", "sequential", "writer")
EVENTS = {
    "arrive", "merge", "dispatch", "complete", "switch",
    "wait_begin", "wait_end", "late", "config", "join", "tunables",
}  # fmt: skip


def _events(result: Result) -> list[tuple[str, dict[str, str]]]:
    """Return the recording of ftrace: each event's name without htbs_, and its fields."""
    lines = re.findall(r" htbs_(\w+): \S+ (.*)", result.text("trace"))
    return [(name, dict(word.split("=") for word in fields.split())) for name, fields in lines]


# struct blk_io_trace of linux/blktrace_api.h; a message begins with the id of a cgroup.
_RECORD = struct.Struct("<IIQQIIIIIHH")
_ACTION, _LENGTH = 5, 10
_MESSAGE, _WITH_CGROUP, _ID_BYTES = 0x04000002, 0x100, 8


def _without_cgroups(trace: bytes) -> bytes:
    """Return a blktrace file that blkparse 1.2.0 can read: it skips messages with a cgroup's id."""
    out = []
    position = 0
    while position < len(trace):
        record = list(_RECORD.unpack_from(trace, position))
        position += _RECORD.size
        data = trace[position : position + record[_LENGTH]]
        position += record[_LENGTH]
        if record[_ACTION] == _MESSAGE | _WITH_CGROUP:
            record[_ACTION] = _MESSAGE
            data = data[_ID_BYTES:]
            record[_LENGTH] = len(data)
        out += [_RECORD.pack(*record), data]
    return b"".join(out)


def _blkparse(result: Result, directory: Path) -> str:
    name = "sim0.blktrace.0"
    (directory / name).write_bytes(_without_cgroups((result.out / name).read_bytes()))
    command = ["blkparse", "-q", "-i", "sim0", "-D", str(directory)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _messages(result: Result, directory: Path) -> list[str]:
    """Return the messages of HTBS that blkparse prints."""
    return re.findall(r" m +N +htbs (.*)", _blkparse(result, directory))


def test_nothing_was_lost(result: Result) -> None:
    [(kept, written)] = re.findall(r"entries-in-buffer/entries-written: (\d+)/(\d+)", result.stdout)
    assert kept == written


def test_every_event_is_seen(result: Result) -> None:
    seen = {name for name, _ in _events(result)}
    assert seen - {"overload", "hold"} == EVENTS


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
        assert count["arrive"] + count["merge"] >= stat["inserted"]
        assert count["dispatch"] == stat["completed"] == count["complete"]
        assert count["late"] == stat["missed"]
        assert count["wait_begin"] == stat["waits"]
        ends = Counter(fields["outcome"] for name, fields in own if name == "wait_end")
        assert ends["hit"] == stat["hits"]
        assert ends.total() == count["wait_begin"]
        conforming = sum(name == "dispatch" and f["conforms"] == "1" for name, f in own)
        assert conforming == stat["conforming"]


def test_events_agree_with_each_other(result: Result) -> None:
    """Times do not go back. A conforming request is due its latency after its arrival."""
    latest = 0
    due, latency = {}, {}
    for name, fields in _events(result):
        if "now" in fields:
            assert int(fields["now"]) >= latest, name
            latest = int(fields["now"])
        if name == "config":
            latency[fields["group"]] = int(fields["latency"])
        if name == "arrive" and fields["group"] in latency:
            due[fields["request"]] = int(fields["now"]) + latency[fields["group"]]
        if name == "dispatch" and fields["request"] in due:
            late_by = int(fields["due"]) - due.pop(fields["request"])
            assert late_by == 0 if fields["conforms"] == "1" else late_by >= 0
    assert latency


def test_blktrace_has_the_same(result: Result, tmp_path: Path) -> None:
    ours = Counter(message.split()[0] for message in _messages(result, tmp_path))
    theirs = Counter(name for name, _ in _events(result))
    kinds = {"arrive", "dispatch", "switch", "wait", "late", "config"}
    assert set(ours) - {"overload"} == kinds
    for name in (*kinds - {"wait"}, "overload"):
        assert ours[name] == theirs[name], name
    assert ours["wait"] == theirs["wait_begin"] + theirs["wait_end"]


def test_blktrace_has_the_time_between_insertion_and_issue(result: Result, tmp_path: Path) -> None:
    text = _blkparse(result, tmp_path)
    actions = Counter(re.findall(r"(?m)^ *\d+,\d+ +(?:\S+ +){4}([ID]) ", text))
    inserted = sum(htbs_stat(result.text(f"{group}.stat"))["inserted"] for group in GROUPS)
    assert 0 < inserted <= actions["I"] <= actions["D"]


def test_debugfs_shows_the_live_state(result: Result) -> None:
    text = result.text("debugfs")
    # The values depend on when it is read.
    took = re.findall(r"^positioning +\d+ us, up to \d+ us; \d+ us for 1 MiB$", text, re.M)
    margin = re.findall(r"^margin +\d+\.\d\d mean deviations$", text, re.M)
    stall = re.findall(r"^stall +\d+ us$", text, re.M)
    assert len(took) == len(margin) == len(stall) == 4
    assert re.search(r"group \d+: \d+ pending", text)
