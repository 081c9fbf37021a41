"""The demonstration: the settings of its guests, the claims that hold, and README.md's table."""

import json
from dataclasses import replace
from pathlib import Path

from results import demo
from results.lab import guest
from results.lab.reduce import Numbers, Request
from results.lab.run import JobResult, Outcome
from results.lab.table import table
from tests.vm.kernels import REPO, Kernel


def outcome(late: int = 0, app2: int = 900 * 1024, app1: int = 466 * 1024) -> Outcome:
    """Return the demonstration with made-up numbers; app1: its bandwidth with HTBS, bytes/s."""
    wanted = demo.experiment(10)
    requests = [Request(100 * i, 5_000_000, 4096) for i in range(100)]
    slow = Numbers(466 * 1024, 116.5, 8076.11, 19606.365, 21866.598, 0)
    fast = Numbers(app2, 225.0, 162.027, 9896.347, 18022.378, late)
    app2s = {"pclock": slow, "htbs": replace(fast, bw=4 * 1024 * 1024)}
    app1s = {"htbs": replace(slow, bw=app1)}
    runs = {
        scheduler.name: {
            "app1": JobResult(app1s.get(scheduler.name, slow), requests),
            "app2": JobResult(app2s.get(scheduler.name, fast), requests),
        }
        for scheduler in wanted.schedulers
    }
    return Outcome(wanted, Kernel("6.12.0-amd64", Path("/")), runs)


def test_scripts_set_what_the_titles_say() -> None:
    wanted = demo.experiment(60)
    scripts = {each.name: guest.script(wanted, each) for each in wanted.schedulers}
    for script in scripts.values():
        assert [line for line in script.splitlines() if line.startswith(("runtime", "startd"))] == [
            *("runtime=60000ms", "startdelay=1000ms", "runtime=59000ms")
        ]
    assert "load htbs-paper b_max=1\n" in scripts["pclock"]
    assert "load htbs-paper b_max=20\n" in scripts["htbs-paper"]
    assert "expect_put OK 0 /sys/block/sim0/queue/iosched/t_wait_us" in scripts["pclock"]
    assert "load htbs\n" in scripts["htbs"]
    assert "iosched" not in scripts["htbs"], "HTBS is the module as it is loaded"
    assert "bw=819200 burst=8192 latency=100000" in scripts["htbs"]
    assert "scheduler sim0 bfq" in scripts["bfq"]
    assert "io.htbs" not in scripts["bfq"]


def test_claims_hold_or_are_named() -> None:
    assert demo.broken_claims(outcome().summary()) == []
    assert demo.broken_claims(outcome(late=1).summary()) == [
        "the paper's rule completes no request late",
        "HTBS completes no request late",
    ]
    assert demo.broken_claims(outcome(app2=700 * 1024).summary()) == [
        "the paper's rule gives app2 its bandwidth"
    ]
    assert demo.broken_claims(outcome(app1=199 * 1024).summary()) == [
        "HTBS gives app1 its bandwidth"
    ]


def test_table_has_each_run() -> None:
    made_up = outcome(late=3)
    lines = table(made_up.experiment, made_up.summary()).splitlines()
    assert len(lines) == 2 + 5 * 2
    assert lines[2].split() == ["pClock", "app1", "200", "466", "8.1", "19.6", "21.9", "0"]
    assert lines[5].split() == ["app2", "800", "900", "0.2", "9.9", "18.0", "3"]


def test_readme_has_the_table_of_the_summary() -> None:
    found = json.loads((demo.DIRECTORY / "summary.json").read_text())
    lines = table(demo.experiment(demo.SECONDS), found).splitlines()
    assert "\n".join(f"    {line}" for line in lines) in (REPO / "README.md").read_text()
