"""bpftrace sees every event and its fields, and the tools of scripts/bpftrace are correct.

Their output is compared with a recording of ftrace, which is evaluated here in another way, with
io.htbs.stat and with fio.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest

from tests.vm import Result
from tests.vm.functional import Boot, fio_side, htbs_stat
from tests.vm.kernels import REPO

pytestmark = [pytest.mark.guest, pytest.mark.one_kernel]

GROUPS = ("random", "sequential")
TOOLS = ("htbslat.bt", "htbslate.bt", "htbsidle.bt", "htbsflow.bt")

GUEST = Boot(
    "bpftrace",
    programs=("bpftrace",),
    files=tuple((name, (REPO / "scripts/bpftrace" / name).read_text()) for name in TOOLS),
)

# The latency of both reservations, and the time that fio counts outside of the scheduler: us.
LATENCY = 10
AROUND = 1000

Event = tuple[str, dict[str, int]]
Interval = tuple[int, int]


def _map(result: Result, pattern: str) -> dict[str, int]:
    """Return one of bpftrace's maps, which it prints as @[key]: value."""
    found = re.findall(rf"^{pattern}: (\d+)$", result.text("bpftrace"), re.MULTILINE)
    return {key: int(value) for key, value in found}


def _group(result: Result, name: str) -> int:
    return int(result.text(f"{name}.id"))


def _stat(result: Result, name: str) -> dict[str, int]:
    return htbs_stat(result.text(f"{name}.stat"))


def test_every_event_is_counted(result: Result) -> None:
    count = _map(result, r"@\[tracepoint:htbs:htbs_(\w+)\]")
    assert set(count) - {"hold"} == {
        "arrive", "merge", "dispatch", "complete", "switch",
        "wait_begin", "wait_end", "late", "config", "join", "overload",
    }  # fmt: skip
    stats = [_stat(result, group) for group in GROUPS]
    assert count["complete"] == sum(stat["completed"] for stat in stats)
    assert count["late"] == sum(stat["missed"] for stat in stats)
    assert count["wait_begin"] == sum(stat["waits"] for stat in stats)


def test_fields_can_be_used(result: Result) -> None:
    dispatched = _map(result, r"@bytes\[(\d+)\]")
    for group in GROUPS:
        stat = _stat(result, group)
        assert dispatched[str(_group(result, group))] == stat["rbytes"] + stat["wbytes"]


# The recording of ftrace.


def _events(result: Result) -> list[Event]:
    """All events: the name without htbs_, and the fields.

    An outcome is replaced by its position here.
    """
    text = result.text("trace")
    [(kept, written)] = re.findall(r"entries-in-buffer/entries-written: (\d+)/(\d+)", text)
    assert kept == written
    for value, outcome in enumerate(("hit", "timeout", "cancelled")):
        text = text.replace(f"outcome={outcome}", f"outcome={value}")
    lines = re.findall(r" htbs_(\w+): \S+ (.*)", text)
    return [
        (name, {key: int(value) for key, value in re.findall(r"(\w+)=(-?\d+)", fields)})
        for name, fields in lines
    ]


@dataclass
class _Request:
    group: int
    number: int
    arrived: int
    dispatched: int = 0
    completed: int = 0
    late: int | None = None


def _requests(events: Iterable[Event]) -> list[_Request]:
    """Return all requests in the order of completion. No request is requeued here."""
    under_way: dict[int, _Request] = {}
    done = []
    for name, fields in events:
        number = fields.get("request", -1)
        if name == "arrive":
            under_way[number] = _Request(fields["group"], number, fields["now"])
        elif name == "merge" and fields["gone"] >= 0:
            gone = under_way.pop(fields["gone"])
            under_way[number].arrived = min(under_way[number].arrived, gone.arrived)
        elif name == "dispatch":
            under_way[number].dispatched = fields["now"]
        elif name == "late":
            under_way[number].late = fields["late"]
        elif name == "complete":
            assert not fields["requeued"]
            under_way[number].completed = fields["now"]
            done.append(under_way.pop(number))
    return done


def _busy(requests: list[_Request], group: int) -> list[Interval]:
    """Return when the device had requests of a group."""
    steps = sorted(
        (time, step)
        for each in requests
        if each.group == group
        for time, step in ((each.dispatched, -1), (each.completed, 1))
    )
    begin, count = 0, 0
    busy = []
    # At one point in time dispatches come first, so an interval ends only if there is a gap.
    for time, step in steps:
        if not count:
            begin = time
        count -= step
        if not count:
            busy.append((begin, time))
    return busy


def _overlap(intervals: list[Interval], begin: int, end: int) -> int:
    return sum(max(0, min(end, last) - max(begin, first)) for first, last in intervals)


def _waits(
    events: list[Event], requests: list[_Request]
) -> Iterator[tuple[int, int, list[Interval]]]:
    """Yield each wait: the group, its outcome, and when the disk was idled."""
    completed = {
        group: sorted(each.completed for each in requests if each.group == group)
        for group in {each.group for each in requests}
    }
    busy = {group: _busy(requests, group) for group in completed}
    began = 0
    for name, fields in events:
        if name == "wait_begin":
            began = fields["now"]
        elif name == "wait_end":
            group, end = fields["group"], fields["now"]
            last = max((time for time in completed[group] if time <= end), default=0)
            idle = (max(began, last), end)
            served = any(first < end < last for first, last in busy[group])
            yield group, fields["outcome"], [] if served else [idle]


def _low(value: int) -> int:
    """Return the lower end of the range of a histogram that has a value."""
    return 1 << value.bit_length() - 1 if value else 0


# The output of the tools.


def _histogram(result: Result, group: int) -> dict[int, int]:
    """Return the number of requests that htbslat counted in each range, by the lower end."""
    [lines] = re.findall(
        rf"^@usecs\[\d+, \d+, {group}\]: *\n((?:[\[(].*\n)+)", result.text("htbslat"), re.MULTILINE
    )
    factor = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
    found = re.findall(r"^\[(\d+)([KMG]?)[],].* (\d+) \|", lines, re.MULTILINE)
    assert len(found) == len(lines.splitlines())
    return {int(low) * factor[unit]: int(count) for low, unit, count in found if int(count)}


def _lines(result: Result, tool: str) -> list[list[str]]:
    """Return the words of each line of a tool that prints a table."""
    _, _, table = result.text(tool).partition("TIME(s)")
    return [line.split() for line in table.splitlines()[1:] if line.strip()]


def _time(now: int) -> str:
    return f"{now // 10**9}.{now // 1000 % 10**6:06}"


def test_htbslat_counts_each_request_by_its_latency(result: Result) -> None:
    """Requests that were merged into others are counted together with these."""
    events = _events(result)
    assert any(name == "merge" and fields["gone"] >= 0 for name, fields in events)
    requests = _requests(events)
    for name in GROUPS:
        group = _group(result, name)
        took = [(each.completed - each.arrived) // 1000 for each in requests if each.group == group]
        histogram = _histogram(result, group)
        assert histogram == Counter(map(_low, took))
        assert sum(histogram.values()) == _stat(result, name)["completed"]


def test_htbslat_agrees_with_fio(result: Result) -> None:
    """The reader's requests are not merged, and fio measures each a little longer."""
    histogram = _histogram(result, _group(result, "random"))
    sides = [fio_side(result, run) for run in ("random", "last")]
    assert sum(histogram.values()) == sum(side["total_ios"] for side in sides)
    most = max(side["lat_ns"]["max"] for side in sides) / 1000
    assert max(histogram) <= most < 2 * max(histogram) + AROUND
    total = sum(side["lat_ns"]["mean"] * side["total_ios"] for side in sides) / 1000
    lowest = sum(low * count for low, count in histogram.items())
    assert lowest <= total < 2 * lowest + AROUND * sum(histogram.values())


def test_htbslate_shows_where_late_requests_spent_their_time(result: Result) -> None:
    events = _events(result)
    requests = _requests(events)
    waits = list(_waits(events, requests))
    expected = []
    for each in requests:
        if each.late is None:
            continue
        idled = sum(
            _overlap(idle, each.arrived, each.dispatched)
            for group, _, idle in waits
            if group != each.group
        )
        waited, device = each.dispatched - each.arrived, each.completed - each.dispatched
        times = [time // 1000 for time in (each.late, waited, idled, device)]
        expected.append([_time(each.completed), *map(str, (each.group, each.number, *times, 0))])
    lines = _lines(result, "htbslate")
    assert [line[:1] + line[2:] for line in lines] == expected


def test_htbslate_shows_one_group_if_asked(result: Result) -> None:
    group = result.text("random.id").strip()
    lines = [line for line in _lines(result, "htbslate") if line[2] == group]
    assert lines
    assert _lines(result, "htbslate-random") == lines


def test_htbslate_agrees_with_the_statistics(result: Result) -> None:
    """A request is late by the time that it took beyond the reserved latency."""
    lines = _lines(result, "htbslate")
    for name in GROUPS:
        stat, group = _stat(result, name), result.text(f"{name}.id").strip()
        late = [int(line[4]) for line in lines if line[2] == group]
        assert len(late) == stat["missed"]
        assert stat["late_max_us"] - 1 <= max(late) <= stat["late_max_us"]
    for late, waited, idled, device in (map(int, line[4:8]) for line in lines):
        # Each of the times is rounded down.
        assert LATENCY - 1 <= waited + device - late <= LATENCY
        assert idled <= waited


def test_htbsidle_counts_waits_and_idle_times(result: Result) -> None:
    events = _events(result)
    count, total = Counter(), Counter()
    for group, outcome, idle in _waits(events, _requests(events)):
        for what in ("waits", ("hits", "timeouts", "cancelled")[outcome]):
            count[what, group] += 1
            total[what, group] += sum(end - begin for begin, end in idle) // 1000
    # The values that were printed last.
    said = {
        (what, int(group)): (int(number), int(time))
        for what, group, number, time in re.findall(
            r"^@(\w+)_us\[\d+, \d+, (\d+)\]: count (\d+), average \d+, total (\d+)$",
            result.text("htbsidle"),
            re.MULTILINE,
        )
    }
    assert said == {key: (number, total[key]) for key, number in count.items()}
    for name in GROUPS:
        stat, group = _stat(result, name), _group(result, name)
        assert said.get(("waits", group), (0, 0))[0] == stat["waits"]
        assert said.get(("hits", group), (0, 0))[0] == stat["hits"]
    assert said["hits", _group(result, "sequential")][1] > 0


def test_htbsflow_shows_each_turn(result: Result) -> None:
    events = _events(result)
    requests = _requests(events)
    busy = {group: _busy(requests, group) for group in {each.group for each in requests}}
    expected = []
    for first, last in pairwise(i for i, (name, _) in enumerate(events) if name == "switch"):
        group, begin = events[first][1]["group"], events[first][1]["now"]
        end = events[last][1]["now"]
        sizes = [
            fields["bytes"]
            for name, fields in events[first:last]
            if name == "dispatch" and fields["group"] == group
        ]
        idle = end - begin - _overlap(busy[group], begin, end)
        numbers = group, (end - begin) // 1000, idle // 1000, len(sizes), sum(sizes)
        expected.append([_time(begin), *map(str, numbers)])
    assert [line[:1] + line[2:] for line in _lines(result, "htbsflow")] == expected


def test_htbsflow_misses_no_request(result: Result) -> None:
    """The last turn is not over: it belongs to the random reader and has one request."""
    requests, sizes = Counter(), Counter()
    for line in _lines(result, "htbsflow"):
        requests[int(line[2])] += int(line[5])
        sizes[int(line[2])] += int(line[6])
    for name in GROUPS:
        stat, group = _stat(result, name), _group(result, name)
        last = int(name == "random")
        assert requests[group] == stat["rios"] + stat["wios"] - last
        assert sizes[group] == stat["rbytes"] + stat["wbytes"] - last * 4096
