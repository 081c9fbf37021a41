"""From the files of the benchmark's guest to its numbers and its part of the page."""

import subprocess
from pathlib import Path

import pytest

from results.bench import inlined, memory, page, profile, scaling, snapshot
from results.bench.cases import CGROUPS, SCHEDULERS, cases
from results.bench.summary import summarise
from tests.vm import SetupError

SNAPSHOT = """\
    {reads}     {merges}   8000  5  0  0  0  0  0  5  5  0  0  0  0  0  0
Timer List Version: v0.10
HRTIMER_MAX_CLOCK_BASES: 8
now at {now} nsecs

cpu: 0
  .idle_sleeptime   : {idle} nsecs
  .iowait_sleeptime : 7 nsecs
"""

SLABS = """\
slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>
kmalloc-512       {big}  99999  512  32  4 : tunables 0 0 0 : slabdata 1 1 0
kmalloc-64        {small}  99999  64  64  1 : tunables 0 0 0 : slabdata 1 1 0
"""


def taken(reads: int, merges: int, now: int, idle: int) -> str:
    return SNAPSHOT.format(reads=reads, merges=merges, now=now, idle=idle)


def test_cost_is_busy_time_for_each_io_merged_or_not() -> None:
    passed = snapshot.difference(taken(10, 5, 1_000, 100), taken(40, 25, 6_000, 1_100))
    assert passed == {"reads": 30, "merges": 20, "now": 5_000, "idle": 1_000, "iowait": 0}
    assert snapshot.cost(passed) == 80


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no disk's stat"),
        (taken(1, 0, 1, 1).replace("now at", "now"), "0 times 'now'"),
        (taken(1, 0, 1, 1) + "  .idle_sleeptime : 5 nsecs\n", "2 times 'idle'"),
    ],
)
def test_text_that_is_no_snapshot_is_an_error(text: str, why: str) -> None:
    with pytest.raises(snapshot.SnapshotError, match=why):
        snapshot.parse(text)


def test_memory_counts_slabs_that_grow_with_cgroups() -> None:
    grown = memory.growth(SLABS.format(big=50, small=7), SLABS.format(big=2_049, small=450), 1_000)
    assert grown == {"kmalloc-512": {"objects": 2, "bytes": 512}}
    assert memory.per_cgroup(grown) == 1024


def report() -> dict:
    """Return fio's report of a machine on which none scales and the others do not."""
    return {
        "jobs": [
            {"jobname": f"{number} {name} {cpus}", "read": {"iops": iops}}
            for number in range(scaling.ROUNDS)
            for name in SCHEDULERS
            for cpus, iops in ((1, 1000), (2, (2000 if name == "none" else 1500) + number))
        ]
    }


def summary(htbs_ns: int = 700) -> dict:
    """Return the summary of made-up runs.

    In ns per I/O, none takes 2000, htbs htbs_ns more, and the others 400 more.
    """
    added = dict.fromkeys(SCHEDULERS, 400) | {"none": 0, "htbs": htbs_ns}
    raw = {}
    for scheduler in SCHEDULERS:
        passed = {"reads": 10, "merges": 0, "now": 10 * (2000 + added[scheduler])}
        passed |= {"idle": 0, "iowait": 0}
        raw[scheduler] = {"cases": {case.name: passed for case in cases()}}
    for scheduler in ("bfq", "htbs"):
        raw[scheduler]["slabs"] = {
            "idle": {"kmalloc-512": {"objects": 2, "bytes": 512}},
            "used": {"kmalloc-512": {"objects": 3, "bytes": 512}},
        }
    return summarise(raw, scaling.rounds(report()))


def test_summary() -> None:
    numbers = summary()
    assert numbers["none_ns"]["alone-randread-32-1"] == 2000
    assert numbers["schedulers"]["htbs"]["added_ns"]["crowd-read-1-10000"] == 700
    assert numbers["schedulers"]["htbs"]["scaling_2cpu"] == 1.5
    assert numbers["schedulers"]["htbs"]["iops_2cpu_of_none"] == 0.75
    assert numbers["memory_per_cgroup"]["htbs"] == {"idle": 1024, "used": 1536}


def test_idle_time_is_on_the_page() -> None:
    passed = snapshot.difference(taken(1, 0, 0, 0), taken(2, 0, 1_000, 250))
    assert snapshot.idle(passed) == 0.25
    assert "idles the disk" not in page.words(summary())
    numbers = summary()
    numbers["schedulers"]["bfq"]["idle"] = {"crowd-read-1-100": 0.25, "crowd-read-32-100": 0.9}
    said = "BFQ idles the disk in 2 cases although requests are waiting, for 25% to 90%"
    assert said in page.words(numbers)


def test_page_says_where_htbs_loses_and_only_there() -> None:
    lost = page.section(summary(700))
    assert "loses to mq-deadline in each case, by 300 to 300 ns" in lost
    assert f"{CGROUPS[-1]:,} | 2,000 | +400 | +400 | +400 | +700 |" in lost
    won = page.section(summary(300))
    assert "loses" not in won
    assert "cheaper than mq-deadline in each case" in won


SYMBOLS = """\
ffffffff81000000 T blk_mq_get_tag
ffffffff81000010 T _raw_spin_lock_irqsave
ffffffff81000020 t dd_insert_request
ffffffff81000030 D some_data
ffffffffc0000000 t htbs_insert\t[htbs]
"""

COUNTS = """\
# 500
ffffffff81000000 10
ffffffff81000004 10
ffffffff81000010 30
ffffffff81000028 20
ffffffffc0000000 10
ffffffffc0000008 10
"""


def test_a_profile_is_by_function_and_for_each_io() -> None:
    """Code after a symbol belongs to it; the number of its first instruction is that of calls."""
    found = profile.reduce(COUNTS, SYMBOLS, ios=10)
    assert found.user == 50
    assert found.functions == {
        "blk_mq_get_tag": (2, 1),
        "_raw_spin_lock_irqsave": (3, 3),
        "dd_insert_request": (2, 0),
        "htbs:htbs_insert": (2, 1),
    }
    assert found.locks == 3


@pytest.mark.parametrize(("scheduler", "own"), [("htbs", 2), ("mq-deadline", 2), ("none", 0)])
def test_a_profile_tells_the_scheduler_from_the_rest_of_the_path(scheduler: str, own: int) -> None:
    parts = profile.reduce(COUNTS, SYMBOLS, ios=10).parts(scheduler)
    assert parts["scheduler's own code"] == own
    assert parts["tags, allocation"] == 2
    assert parts["locks, RCU"] == 3
    assert sum(parts.values()) == 9


SOURCE = """\
volatile int seen;
static inline __attribute__((always_inline)) void inner(int n) { seen += n; seen *= n; }
void other(void) { seen = 1; }
void outer(int n) { seen -= n; inner(n); seen -= n; }
"""


def test_a_profile_tells_inlined_functions(tmp_path: Path) -> None:
    """For each instruction: whether it was in the inner function or in the one around it."""
    source, module = tmp_path / "some.c", tmp_path / "some.ko"
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-O2", "-g", "-c", source, "-o", module], check=True)
    base = 0xFFFFFFFFC0000000
    symbols = subprocess.run(["nm", module], capture_output=True, text=True, check=True).stdout
    at = {name: base + int(place, 16) for place, kind, name in map(str.split, symbols.splitlines())
          if kind == "T"}  # fmt: skip
    counts = {at["outer"] + byte: 1.0 for byte in range(20)} | {at["other"]: 5.0, base - 1: 9.0}
    found = inlined.by_function(counts, at, module)
    assert found["other"] == 5
    assert found["inner"] + found["outer"] == 20
    assert found["inner"] > 0 < found["outer"]


def test_inlined_functions_need_the_module_that_ran(tmp_path: Path) -> None:
    module = tmp_path / "some.ko"
    subprocess.run(["gcc", "-xc", "-c", "-", "-o", module], input="int x(void) { return 1; }",
                   text=True, check=True)  # fmt: skip
    with pytest.raises(SetupError, match=r"some\.ko has no function of those that ran"):
        inlined.by_function({1: 1.0}, {"y": 1}, module)
    with pytest.raises(SetupError, match=r"some\.ko has no line table"):
        inlined.by_function({1: 1.0}, {"x": 1}, module)
