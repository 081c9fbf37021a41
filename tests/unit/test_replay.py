"""A replay finds each deviation from the specification, so the tests in a kernel see it."""

import re
from itertools import chain, pairwise

import pytest

from tests.model.replay import MismatchError, RecordingError, read, replay
from tests.model.window import MAX, ONE
from tests.unit.recorder import record
from tests.unit.strategies import part

RULE, SEED = "slack", 114  # on a device that reorders; a recording with all of DECIDED
CAPPED = 16  # a recording in which each cap decides something

# Fields that tell of decisions: a recording in which one of them differs is refused.
DECIDED = {
    "tag": ("v", "start", "finish", "cost", "pending"),
    "merge": ("pending", "oldest"),
    "charge": ("bytes",),
    "drift": ("jump", "drift"),
    "switch": ("group",),
    "dispatch": ("group", "request", "start", "sector", "bytes", "nearest", "run", "pending",
                 "in_flight"),
    "wait_begin": ("group", "until"),
    "wait_end": ("group",),
    "complete": ("in_flight", "until"),
    "late": ("late",),
    "overload": ("begins",),
    "hold": ("reads", "writes", "read_window", "write_window"),
}
SEEDS = range(12)
FIELDS = [(name, field) for name, fields in DECIDED.items() for field in fields]


@pytest.fixture(scope="module")
def recording(lib) -> list[str]:
    """A recording as of a kernel."""
    return record(lib, SEED, RULE)


@pytest.fixture(scope="module")
def capped(lib) -> list[str]:
    """A recording of flows with caps."""
    return record(lib, CAPPED, RULE, ("caps",))


def name_of(line: str) -> str:
    """The event's name."""
    return re.search(r" htbs_(\w+): ", line)[1]


def some(recording: list[str], name: str) -> list[int]:
    """The places of some events of this name, with a hundred lines behind the last one."""
    places = [i for i, line in enumerate(recording) if name_of(line) == name]
    places = [i for i in places if i < len(recording) - 100]
    assert places, f"no {name} recorded"
    return [places[len(places) * part // 4] for part in range(4)]


def refused(lines: list[str]) -> bool:
    """Does the replay refuse this recording."""
    try:
        replay(read(["\n".join(lines)]))
    except (MismatchError, RecordingError):
        return True
    return False


@pytest.mark.parametrize("kinds", [
    (), ("weights",), ("caps",), ("weights", "caps"), ("iops",), ("iops", "weights"),
    ("iops", "weights", "caps"), ("caps", "metadata"),
])
@pytest.mark.parametrize("rule", ["paper", "slack"])
@pytest.mark.parametrize("seed", SEEDS[:part(len(SEEDS))])
def test_what_is_as_specified_is_accepted(lib, seed, rule, kinds):
    """Tags, choices, waits and drifts of the C, recorded as by the tracepoints."""
    assert not refused(record(lib, seed, rule, kinds))


def test_requests_are_held_back(lib):
    """By a full window and, on a device that reorders, by the deadline of a request in flight."""
    of_slack = list(chain.from_iterable(record(lib, seed, "slack") for seed in SEEDS))
    windows = [int(re.search(r"read_window=(\d+)", line)[1])
               for line in of_slack if name_of(line) == "hold"]
    assert min(windows) == 1
    assert max(windows) == MAX // ONE
    assert not any(name_of(line) == "hold" for line in record(lib, SEED, "paper"))


@pytest.mark.parametrize(("name", "field"), FIELDS)
@pytest.mark.parametrize("by", [1, -1])
def test_a_number_that_is_off_by_one(recording, name, field, by):
    """Every tag, choice, wait and drift is compared, to the nanosecond."""
    for place in some(recording, name):
        line = re.sub(rf"\b{field}=(-?\d+)", lambda m: f"{field}={int(m[1]) + by}",
                      recording[place])
        assert line != recording[place]
        assert refused([*recording[:place], line, *recording[place + 1:]]), line


# A merge is an input. Without a hold it is as if the driver had not asked for a request.
@pytest.mark.parametrize("name", sorted(DECIDED.keys() - {"merge", "hold"}))
def test_an_event_that_did_not_happen(recording, name):
    """A decision that is missing, such as a merge's charge, is found."""
    for place in some(recording, name):
        assert refused([*recording[:place], *recording[place + 1:]]), recording[place]


@pytest.mark.parametrize("name", ["join", "config"])
def test_operations_that_are_off_by_one(lib, name):
    """Then the tags of a flow that reserves only operations differ."""
    lines = record(lib, SEED, RULE, ("iops",))
    places = [place for place, line in enumerate(lines)
              if name_of(line) == name and " bw=0 " in line]
    line = lines[places[0]]
    lines[places[0]] = re.sub(r"\biops=(\d+)", lambda m: f"iops={int(m[1]) + 1}", line)
    assert refused(lines), line


@pytest.mark.parametrize(("name", "field"), [
    ("stop", "group"), ("stop", "until"), ("go", "group"), ("cap", "max"),
])
@pytest.mark.parametrize("by", [1, -1])
def test_a_cap_that_is_off_by_one(capped, name, field, by):
    """Which flow is throttled, until when, and which one is unthrottled."""
    for place in some(capped, name):
        line = re.sub(rf"\b{field}=(\d+)", lambda m: f"{field}={int(m[1]) + by}", capped[place])
        assert refused([*capped[:place], line, *capped[place + 1:]]), line


@pytest.mark.parametrize("field", ["group", "request", "bytes", "write", "pending"])
@pytest.mark.parametrize("by", [1, -1])
def test_a_request_that_passes_a_cap(lib, field, by):
    """Each field is compared for a request that was pending; for an arrival, what was charged."""
    lines = record(lib, CAPPED, RULE, ("caps", "metadata"))
    names = [name_of(line) for line in lines]
    waited = [place for place, (before, name) in enumerate(pairwise(names), 1)
              if name == "pass" and before not in ("charge", "pass")]
    assert waited
    for place in waited[:4]:
        line = re.sub(rf"\b{field}=(\d+)", lambda m: f"{field}={int(m[1]) + by}", lines[place])
        assert refused([*lines[:place], line, *lines[place + 1:]]), line


@pytest.mark.parametrize("name", ["stop", "go", "cap", "drain"])
def test_a_cap_that_is_not_told_of(capped, name):
    """A missing `go` makes a flow unthrottled too late, for example."""
    for place in some(capped, name):
        assert refused([*capped[:place], *capped[place + 1:]]), capped[place]


@pytest.mark.parametrize("name", ["drift", "switch", "wait_begin", "wait_end", "late", "hold"])
def test_an_event_too_many(recording, name):
    """A decision that was taken twice is found."""
    for place in some(recording, name):
        assert refused([*recording[:place], recording[place], *recording[place:]])


def test_another_outcome_of_a_wait(recording):
    """A hit is not replayed as a timeout."""
    [place, *_] = [i for i in some(recording, "wait_end") if "outcome=hit" in recording[i]]
    line = recording[place].replace("outcome=hit", "outcome=timeout")
    assert refused([*recording[:place], line, *recording[place + 1:]])


@pytest.mark.parametrize(("seed", "reorders"), [(SEED, 1), (12, 0)])
def test_another_kind_of_device(lib, seed, reorders):
    """Only on a device that reorders do deadlines of requests in flight hold others back."""
    first, *rest = record(lib, seed, RULE)
    other = first.replace(f"reorders={reorders}", f"reorders={1 - reorders}")
    assert other != first
    assert refused([other, *rest])


def test_another_weight(lib):
    """Shares of surplus depend on the weight, except in an overload, which policy=paper ignores."""
    recording = record(lib, 5, "paper", ("weights",))
    found = 0
    for place, line in enumerate(recording):
        if name_of(line) == "share":
            weight = 1 if "weight=1000" in line else 10_000
            other = re.sub(r"weight=(\d+)", f"weight={weight}", line)
            found += refused([*recording[:place], other, *recording[place + 1:]])
    assert found >= 10


@pytest.mark.parametrize(("lines", "remedy"), [
    (["CPU:1 [LOST 7 EVENTS]"], "enlarge buffer_size_kb"),
    (["# entries-in-buffer/entries-written: 5/9   #P:2"], "enlarge buffer_size_kb"),
    ([], "echo 1 >"),
])
def test_a_recording_with_gaps(recording, lines, remedy):
    """The recording is refused, and the error names the remedy."""
    with pytest.raises(RecordingError, match=re.escape(remedy)):
        read(["\n".join([*lines, *(recording if lines else [])])])


def test_a_recording_that_began_too_late(recording):
    """Without its first event the state of the device is unknown."""
    with pytest.raises(RecordingError, match="record first"):
        replay(read(["\n".join(recording[1:])]))
