"""A database as a job: its script, how its output is parsed, and what that decides."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from results.experiments import bandwidth, pgbench, schedulers
from results.lab import guest, postgres, run, summary, transactions
from results.lab.experiment import KIB, Experiment, Scheduler
from results.lab.raw import Run
from results.lab.reduce import ReduceError, Request
from results.lab.run import JobResult
from results.lab.transactions import Trace
from tests.unit.results import MACHINE, fill, result
from tests.unit.test_results_guest import job_files
from tests.vm import reports

LOG = """\
0 1 688125 0 1704067219 142303
3 1 713141 0 1704067219 167436
"""

REPORT = """\
number of transactions actually processed: 989
number of failed transactions: 0 (0.000%)
"""

# Two bios that are merged, one that is split, one of the journal, one in flight at the end; a sync
# of another process within one, and the end of one that began before the trace.
TRACE = """\
# tracer: nop
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
  postgres-227     [000] ...1.    15.000000: sys_fdatasync -> 0x0
  postgres-227     [000] .....    15.500000: block_bio_queue: 259,0 RA 1000 + 16 [postgres]
  postgres-228     [000] ...1.    15.501000: sys_fdatasync(fd: 5)
 kworker/u4:1-30   [000] .....    15.502000: block_bio_queue: 259,0 W 1016 + 16 [kworker/u4:1]
    jbd2/sim0p1-8-185 [000] ..... 15.502500: block_bio_queue: 259,0 WSM 500 + 8 [jbd2/sim0p1-8]
  postgres-227     [000] ...1.    15.503000: sys_fdatasync(fd: 6)
       fio-222     [000] d.h..    15.510000: block_rq_complete: 259,0 RA () 1000 + 32 be,0,4 [0]
  postgres-227     [000] .....    15.511000: block_bio_queue: 259,0 R 4000 + 24 [postgres]
  postgres-227     [000] ...1.    15.513000: sys_fdatasync -> 0x0
    <idle>-0       [000] d.h1.    15.520000: block_rq_complete: 259,0 R () 4016 + 8 be,0,4 [0]
    <idle>-0       [000] d.h1.    15.521000: block_rq_complete: 259,0 WSM () 500 + 8 be,0,4 [0]
  postgres-228     [000] ...1.    15.526000: sys_fdatasync -> 0x0
    <idle>-0       [000] d.h1.    15.530000: block_rq_complete: 259,0 R () 4000 + 16 be,0,4 [0]
  postgres-227     [000] .....    15.531000: block_bio_queue: 259,0 R 8000 + 16 [postgres]
"""


def test_transactions_are_parsed() -> None:
    assert transactions.parse_transactions(LOG.splitlines()) == [688125, 713141]
    assert transactions.processed(REPORT) == 989


@pytest.mark.parametrize("line", ["", "0 1", "0 1 failed 0 1704067219 1"])
def test_line_that_is_no_transaction_is_an_error(line: str) -> None:
    with pytest.raises(ReduceError, match="line 2 "):
        transactions.parse_transactions([LOG.splitlines()[0], line])


@pytest.mark.parametrize("report", ["", REPORT.replace(": 0 (", ": 1 ("), REPORT[:20]])
def test_report_of_a_failure_is_an_error(report: str) -> None:
    with pytest.raises(ReduceError, match="pgbench did not"):
        transactions.processed(report)


def test_wal_is_parsed() -> None:
    assert transactions.parse_wal("795|17872.845|13901747|1720\n") == (795, 17872.845)
    with pytest.raises(ReduceError, match="pg_stat_wal"):
        transactions.parse_wal("")


def test_trace_is_that_of_the_cgroup() -> None:
    assert transactions.parse_trace(TRACE.splitlines()) == Trace(
        requests=[
            Request(510, 10_000_000, 8192),
            Request(510, 8_000_000, 8192),
            Request(530, 19_000_000, 12288),
        ],
        syncs_us=[10_000, 25_000],
        pause_us=513_000,
    )


def test_time_after_the_last_sync_counts() -> None:
    last = "<idle>-0 [000] d.h1. 16.100000: block_rq_complete: 259,0 R () 8000 + 16 be,0,4 [0]"
    assert transactions.parse_trace([*TRACE.splitlines(), last]).pause_us == 574_000


def test_sync_that_failed_is_an_error() -> None:
    with pytest.raises(ReduceError, match="a sync failed"):
        transactions.parse_trace(TRACE.replace("15.513000: sys_fdatasync -> 0x0",
            "15.513000: sys_fdatasync -> 0xfffffffffffffffb").splitlines())  # fmt: skip


def test_io_stat_before_the_first_io_is_empty() -> None:
    assert transactions.io_stat("") == 0
    text = "259:0 rbytes=8192 wbytes=4096 rios=2 wios=1 dbytes=512 dios=1\n"
    assert transactions.io_stat(text) == 12288


def test_numbers_of_a_database() -> None:
    trace = Trace([], [2000, 1000])
    found = transactions.numbers([transactions.kept([5000, 7000, 6000], 2, (2, 3.0), trace)])
    assert (found["tps"], found["wal_syncs"], found["wal_sync_mean_us"]) == (1.5, 2, 1500)
    assert (found["tx_p50_us"], found["tx_max_us"], found["sync_p999_us"]) == (6000, 7000, 2000)
    with pytest.raises(ReduceError, match="did nothing"):
        transactions.kept([], 2, (2, 3.0), trace)


def test_percentiles_are_over_all_runs() -> None:
    """The maximum of a run with few syncs is not the p99.9 of all runs."""
    many = transactions.kept([1000] * 999, 10, (999, 999.0), Trace([], [1000] * 999))
    few = transactions.kept([90_000], 10, (1, 90.0), Trace([], [90_000], 95_000))
    found = transactions.numbers([many, few])
    assert (found["transactions"], found["tps"], found["wal_syncs"]) == (1000, 50, 1000)
    assert (found["tx_p999_us"], found["tx_max_us"]) == (1000, 90_000)
    assert (found["sync_p999_us"], found["sync_max_us"]) == (1000, 90_000)
    assert (found["wal_sync_mean_us"], found["sync_pause_us"]) == (1089, 95_000)


def test_script_makes_the_database_before_anything_schedules() -> None:
    script = guest.script(pgbench.experiment(1), schedulers.BFQ)
    steps = (
        *("scheduler sim0 none\n", "\nmake_database ", "scheduler sim0 bfq\n"),
        *("database/memory.max\n", "\nserver ", "database.begin\n", "\npgbench -h"),
        *("wait $pgbench", "\nstop_tracing database.trace", "database.end\n"),
    )
    places = [script.find(step) for step in steps]
    assert -1 not in places and places == sorted(places), dict(zip(steps, places, strict=True))


def test_database_without_neighbours_starts_no_fio() -> None:
    script = guest.script(pgbench.alone(1), schedulers.BFQ)
    assert "\npgbench -h" in script
    assert "fio" not in script and "kill -STOP" not in script


def test_neighbours_are_jobs_of_fio_with_a_file_each() -> None:
    [jobs] = job_files(guest.script(pgbench.experiment(1), schedulers.HTBS)).values()
    assert {name: job["filename"] for name, job in jobs.items()} == {
        "writer": "/volumes/writer/file",
        "backup": "/dev/sim0",
        "random": "/dev/sim0",
    }


def test_volumes_and_raw_jobs_do_not_overlap() -> None:
    raw = [(job.offset, job.size) for job in (pgbench.BACKUP, pgbench.RANDOM)]
    parts = sorted([*raw, *((each.offset, each.size) for each in pgbench.VOLUMES)])
    ends = [offset + size for offset, size in parts]
    assert all(end <= begin for end, (begin, _) in zip(ends, parts[1:], strict=False))
    assert ends[-1] <= pgbench.DRIVE.size


def test_only_a_database_depends_on_postgres() -> None:
    versions = {"fio": "fio-3.33", "postgres": "15.1"}
    assert run.versions_for(pgbench.experiment(1), versions) == versions
    other = bandwidth.STUDY.cases[0].first
    assert run.versions_for(other, versions) == {"fio": "fio-3.33"}
    newer = replace(MACHINE, versions=MACHINE.versions | {"postgres": "15.2"})
    assert Run(other, schedulers.HTBS).inputs(newer) == Run(other, schedulers.HTBS).inputs(MACHINE)
    each = Run(pgbench.experiment(1), schedulers.HTBS)
    assert each.inputs(newer) != each.inputs(MACHINE)


def test_only_rivals_of_a_database_may_let_a_task_hang() -> None:
    line = "[   62.468532] INFO: task kworker/u4:0:12 blocked for more than 30 seconds."

    def reported(experiment: Experiment, way: Scheduler) -> bool:
        allow = run.machine_for(experiment, way, MACHINE.kernel, {}).allow
        assert reports.is_report("BUG: unable to handle page fault", allow)
        return reports.is_report(line, allow)

    assert reported(pgbench.experiment(1), schedulers.HTBS)
    assert not reported(pgbench.experiment(1), schedulers.NONE)
    assert reported(bandwidth.STUDY.cases[0].first, schedulers.BFQ)


def test_functions_are_a_shell_s() -> None:
    assert postgres.prepare(bandwidth.STUDY.cases[0].first) == []
    assert any("make_database()" in line for line in postgres.prepare(pgbench.experiment(1)))


def made_up(slower: int = 1, kbps: int = 500) -> Callable[[Run, object], JobResult]:
    """Return results in which all takes `slower` times as long under HTBS, which moves `kbps`."""

    def some(each: Run, job) -> JobResult:
        own = each.scheduler == schedulers.HTBS
        found = result((kbps if own else 500) * KIB)
        if job != pgbench.DATABASE:
            return found
        times = slower if own else 1
        trace = Trace([], [5000 * times], 6000 * times)
        return replace(found, more=transactions.kept([10_000 * times], times, (1, 5.0), trace))

    return some


def verdicts(found: summary.Summary) -> list[bool]:
    return [claim.holds for claim in pgbench.claims(summary.numbers(pgbench.STUDY, found))]


def test_claims_are_decided_by_the_numbers(tmp_path: Path) -> None:
    assert all(verdicts(fill([pgbench.STUDY], tmp_path, made_up())))
    got, none_late, *others = verdicts(fill([pgbench.STUDY], tmp_path, made_up(2, 300)))
    assert (got, none_late) == (False, True)
    assert not any(others)


def test_table_has_a_line_for_each_scheduler(tmp_path: Path) -> None:
    found = fill([pgbench.STUDY], tmp_path, made_up(2))
    runs = summary.numbers(pgbench.STUDY, found)
    beside, _, alone = pgbench.shown(pgbench.STUDY, runs).split("\n\n")
    head, _, htbs, *others = beside.splitlines()
    cells = dict(zip(head.strip("| ").split(" | "), htbs.strip("| ").split(" | "), strict=True))
    assert (cells["scheduler"], cells["tps"], cells["conforming"]) == ("HTBS", "0.5", "45")
    assert (cells["got KB/s"], cells["writer KB/s"]) == ("500", "500")
    assert len(others) == len(pgbench.ways.ALL) - 1
    assert "writer" not in alone and len(alone.splitlines()) == len(beside.splitlines())


def test_numbers_of_a_database_are_in_the_summary(tmp_path: Path) -> None:
    found = fill([pgbench.STUDY], tmp_path, made_up(2))
    path = tmp_path / "summary.json"
    summary.write([pgbench.STUDY], found, path)
    assert summary.read(path) == found
    assert found["pgbench"]["htbs"]["more"]["database"]["tps"] == 0.5
