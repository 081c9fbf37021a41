"""From fio's logs to the demonstration's numbers, table and figure."""

import io
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from results import demo
from results.lab import figure, guest, progress, reduce
from results.lab.experiment import Reservation
from results.lab.reduce import Numbers, Request
from results.lab.run import JobResult, Outcome
from results.lab.table import table
from tests.vm.kernels import Kernel

LOG = """\
8, 8754150, 0, 4096, 2147483648, 0
9, 162027, 0, 4096, 2147487744, 0
109, 100000001, 0, 8192, 2147491840, 0
"""


def outcome(late: int = 0, app2: int = 900 * 1024) -> Outcome:
    """The demonstration with made-up numbers."""
    wanted = demo.experiment(10)
    requests = [Request(100 * i, 5_000_000, 4096) for i in range(100)]
    slow = Numbers(466 * 1024, 116.5, 8076.11, 19606.365, 21866.598, 0)
    fast = Numbers(app2, 225.0, 162.027, 9896.347, 18022.378, late)
    app2s = {"pclock": slow, "htbs": replace(fast, bw=4 * 1024 * 1024)}
    runs = {
        scheduler.name: {
            "app1": JobResult(slow, requests),
            "app2": JobResult(app2s.get(scheduler.name, fast), requests),
        }
        for scheduler in wanted.schedulers
    }
    return Outcome(wanted, Kernel("6.12.0-amd64", Path("/")), runs)


def test_log_is_parsed() -> None:
    assert reduce.parse_log(LOG.splitlines()) == [
        Request(8, 8754150, 4096),
        Request(9, 162027, 4096),
        Request(109, 100000001, 8192),
    ]


@pytest.mark.parametrize("line", ["", "8", "8, 1, 0", "a, 1, 0, 4096, 0, 0", "8, 1, 0, x, 0, 0"])
def test_line_that_is_no_request_is_named(line: str) -> None:
    with pytest.raises(reduce.ReduceError, match="line 2 "):
        reduce.parse_log([LOG.splitlines()[0], line])


def test_numbers() -> None:
    requests = reduce.parse_log(LOG.splitlines())
    assert reduce.numbers(requests, 2.0, 100_000) == Numbers(
        bw=8192, iops=1.5, p50_us=8754.15, p99_us=100000.001, max_us=100000.001, late=1
    )


def test_completion_at_the_bound_is_in_time() -> None:
    assert reduce.numbers([Request(50, 50_000_000, 4096)], 1, 50_000).late == 0


def test_no_request_is_an_error() -> None:
    with pytest.raises(reduce.ReduceError, match="not a single request"):
        reduce.numbers([], 60, 50_000)


@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 1), (1, 1), (50, 50), (99, 99), (99.5, 100), (100, 100)]
)
def test_percentile_is_the_nearest_rank(percent: float, expected: int) -> None:
    assert reduce.percentile(list(range(1, 101)), percent) == expected


def test_bandwidth_over_time_counts_each_request_once() -> None:
    requests = [Request(at, 1, 4096) for at in (0, 999, 1000, 2999, 3000, 4001)]
    assert reduce.bandwidth(requests, 4, 2) == [(1.0, 6144.0), (3.0, 4096.0)]


def test_reservation_is_written_as_the_kernel_takes_it() -> None:
    assert str(Reservation(204800, 8192, 50_000)) == "bw=204800 burst=8192 latency=50000"


def test_scripts_are_valid_and_set_what_was_described() -> None:
    wanted = demo.experiment(60)
    scripts = {each.name: guest.script(wanted, each) for each in wanted.schedulers}
    for script in scripts.values():
        subprocess.run(["sh", "-n"], input=script, text=True, check=True)
        lines = script.splitlines()
        assert [line for line in lines if line.startswith(("runtime", "startdelay"))] == [
            *("runtime=60000ms", "startdelay=1000ms", "runtime=59000ms")
        ]
    assert "expect_put OK 1 /sys/block/sim0/queue/iosched/b_max" in scripts["pclock"]
    assert "expect_put OK 20 /sys/block/sim0/queue/iosched/b_max" in scripts["htbs-paper"]
    assert "paper" in scripts["pclock"]
    assert "iosched" not in scripts["htbs"], "HTBS is what is loaded"
    assert "bw=819200 burst=8192 latency=100000" in scripts["htbs"]
    assert "scheduler sim0 bfq" in scripts["bfq"]
    assert "io.htbs" not in scripts["bfq"]


def test_summary_has_the_published_form() -> None:
    summary = outcome().summary()
    assert list(summary) == ["kernel", "virtual_seconds", "reserved", "runs"]
    assert summary["reserved"]["app2"] == {"bw": 819200, "latency_us": 100_000}
    assert list(summary["runs"]) == [
        *("pclock", "htbs-paper", "htbs", "mq-deadline", "bfq")
    ]
    assert list(summary["runs"]["htbs"]["app1"]) == [
        *("bw", "iops", "p50_us", "p99_us", "max_us", "late")
    ]


def test_claims_hold_or_are_named() -> None:
    assert demo.broken_claims(outcome().summary()) == []
    assert demo.broken_claims(outcome(late=1).summary()) == [
        "the paper's rule completes no request late",
        "HTBS completes no request late",
    ]
    assert demo.broken_claims(outcome(app2=700 * 1024).summary()) == [
        "the paper's rule gives app2 its bandwidth"
    ]


def test_table_shows_every_run() -> None:
    made_up = outcome(late=3)
    lines = table(made_up.experiment, made_up.summary()).splitlines()
    assert len(lines) == 2 + 5 * 2
    assert lines[2].split() == ["pClock", "app1", "200", "466", "8.1", "19.6", "21.9", "0"]
    assert lines[5].split() == ["app2", "800", "900", "0.2", "9.9", "18.0", "3"]


def test_figure_is_the_same_twice(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        figure.bandwidth(outcome(), ("pclock", "htbs"), tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize("text", ["", "9", "3601", "-60", "1e2", "60.0", "６０", "sixty"])
def test_bad_demo_seconds_is_refused(text: str) -> None:
    with pytest.raises(SystemExit, match="DEMO_SECONDS is a whole number from 10 to 3600"):
        demo.seconds_wanted(text)


def test_progress_tells_what_is_left() -> None:
    assert progress.describe({"a": 0.0, "b": 0.0}, 1.0) == "a   0%  b   0%  0:01 passed"
    line = progress.describe({"a": 1.0, "b": 0.5}, 90.0)
    assert line == "a 100%  b  50%  1:30 passed, about 0:30 left"


def test_progress_on_a_terminal_keeps_to_one_line() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    shown = progress.Progress(["a", "b"], out)
    shown.advance("a", 0.5)
    shown.advance("b", 1.5)
    shown.close()
    assert "\n" not in out.getvalue()
    assert out.getvalue().count("\r") == 3
    assert "b 100%" in out.getvalue()
