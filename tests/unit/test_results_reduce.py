"""From fio's logs and reports and from io.htbs.stat to the numbers of the summary."""

from dataclasses import replace
from pathlib import Path

import pytest

from results.experiments import bandwidth, latency, total
from results.lab import reduce, summary
from results.lab.reduce import Numbers, Request
from tests.unit.results import MACHINE, fill, result

LOG = """\
8, 8754150, 0, 4096, 2147483648, 0
9, 162027, 0, 4096, 2147487744, 0
109, 100000001, 0, 8192, 2147491840, 0
"""


def test_log_is_parsed() -> None:
    assert reduce.parse_log(LOG.splitlines()) == [
        Request(8, 8754150, 4096),
        Request(9, 162027, 4096),
        Request(109, 100000001, 8192),
    ]


@pytest.mark.parametrize("line", ["", "8", "8, 1, 0", "a, 1, 0, 4096, 0, 0", "8, 1, 0, x, 0, 0"])
def test_line_that_is_no_request_is_an_error(line: str) -> None:
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


def test_latency_over_time_is_least_middle_and_largest() -> None:
    requests = [
        Request(at, ns, 4096) for at, ns in ((0, 3), (10, 1), (20, 2), (1500, 5), (2000, 7))
    ]
    in_ms = [replace(each, latency_ns=each.latency_ns * 1_000_000) for each in requests]
    assert reduce.latency(in_ms, 2, 2) == [(0.5, 1.0, 2.0, 3.0), (1.5, 5.0, 5.0, 5.0)]


def fio_report(name: str, ios: int, processes: int = 1) -> dict:
    """fio's report of a job that read 4k blocks for 1001 ms."""
    side = {"total_ios": ios, "io_bytes": ios * 4096, "lat_ns": {"mean": 1.0, "N": ios}}
    report = {"jobname": name, "error": 0, "read": side, "write": {**side, "total_ios": 0}}
    report |= {"job_runtime": 1001 * processes, "usr_cpu": 1.0, "sys_cpu": 2.0}
    return report | {"job options": {"numjobs": str(processes)}}


def test_job_that_failed_is_an_error() -> None:
    with pytest.raises(reduce.ReduceError, match="fio's job app1 failed with error 5"):
        reduce.fio_job({"jobname": "app1", "error": 5})


def test_log_without_all_requests_is_an_error() -> None:
    """The processes of a job run in parallel, and the log has the requests of all of them."""
    fio = reduce.fio_job(fio_report("readers", ios=8, processes=4))
    assert fio["runtime_ms"] == 1001
    request = Request(0, 1, 4096)
    reduce.check_whole(8 * [request], fio)
    with pytest.raises(reduce.ReduceError, match="the log has 7 of 8 requests"):
        reduce.check_whole(7 * [request], fio)


def test_seeds_are_averaged_and_late_requests_added(tmp_path: Path) -> None:
    found = fill(
        [total.STUDY], tmp_path, lambda each, job: result(each.experiment.seed * 4096, late=1)
    )
    got = summary.numbers(total.STUDY, found)["total-7+0"]
    assert got["htbs-paper"]["seq1"]["bw"] == 2 * 4096
    assert got["htbs-paper"]["seq1"]["late"] == 3
    assert got["htbs-paper"]["total_bw"] == 7 * 2 * 4096
    spread = [got["htbs-paper"][f"total_bw_{end}"] for end in ("min", "max")]
    assert spread == [7 * 4096, 7 * 3 * 4096]
    assert got["none"]["seq1"]["late"] == 1
    assert "total_bw_min" not in got["none"]


def test_summary_has_what_each_number_was_measured_with(tmp_path: Path) -> None:
    """The raw data have the same hash, for each seed."""
    found = fill([total.STUDY], tmp_path)["total-7+0"]
    [case, *_] = total.STUDY.cases
    for scheduler in case.first.schedulers:
        seeds = case.seeds(scheduler)
        runs = {str(seed): summary.Run(case.experiment(seed), scheduler) for seed in seeds}
        assert found[scheduler.name]["measured_with"] == {
            "tunables": scheduler.tunables,
            "kernel": "6.12.0-amd64",
            "versions": {"fio": "fio-3.33", "qemu": "7.2.0"},
            "inputs": {seed: run.inputs(MACHINE) for seed, run in runs.items()},
        }
        assert all(
            run.load(tmp_path)["inputs"] == found[scheduler.name]["measured_with"]["inputs"][seed]
            for seed, run in runs.items()
        )


def test_summary_is_read_as_it_was_written(tmp_path: Path) -> None:
    studies = [bandwidth.STUDY, latency.STUDY]
    found = fill(studies, tmp_path)
    path = tmp_path / "summary.json"
    summary.write(studies, found | {"no experiment any more": {}}, path)
    assert summary.read(path) == found
    for study in studies:
        assert summary.numbers(study, summary.read(path)) == summary.numbers(study, found)


def test_summary_of_another_form_is_refused(tmp_path: Path) -> None:
    """Otherwise a number could be read as another one."""
    path = tmp_path / "summary.json"
    path.write_text('{"columns": ["p50_us", "bw"], "experiments": {}}')
    with pytest.raises(summary.SummaryError, match="of another form: remove it"):
        summary.read(path)
