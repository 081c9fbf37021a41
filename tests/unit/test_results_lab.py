"""The laboratory without a guest: from made-up raw results to summary, page and figures."""

import configparser
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from results.experiments import STUDIES, bandwidth, drives, latency, neighbour, schedulers, total
from results.experiments.guarantee import boundary, flash
from results.lab import __main__ as lab
from results.lab import conformance, guest, page, raw, reduce, run, summary, words
from results.lab.experiment import KIB
from results.lab.raw import Machine, Run
from results.lab.reduce import Numbers, Request
from results.lab.run import JobResult
from results.lab.study import Study
from tests.vm.guest import GuestError, Result
from tests.vm.kernels import Kernel

MACHINE = Machine(
    Kernel("6.12.0-amd64", Path("/")),
    {"htbs.ko": b"htbs", "simdisk.ko": b"simdisk"},
    {"fio": "fio-3.33", "qemu": "7.2.0"},
)


def result(bw: int = 1000 * KIB, late: int = 0, mean_ms: float = 5) -> JobResult:
    """One job's, made up."""
    requests = [Request(100 * i, int(mean_ms * 1e6), 4096) for i in range(100)]
    numbers = Numbers(bw, bw / 4096, 1000.0 * mean_ms, 9000.5, 20_000.0, late)
    lat = {"min": 1, "max": 20_000_000, "mean": int(mean_ms * 1e6), "stddev": 2_000_000}
    return JobResult(
        numbers,
        requests,
        {"lat_ns": lat, "runtime_ms": 10_000},
        "8:0 conforming=9 met=9 missed=0 late_max_us=0",
    )


def fill(studies: Iterable[Study], directory: Path, results=lambda each, job: result()) -> None:
    """Save made-up results of all runs."""
    for study in studies:
        for each in raw.runs(study):
            jobs = {job.name: results(each, job) for job in each.experiment.jobs}
            each.save(directory / "raw", MACHINE, jobs)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of everything; all schedulers are alike."""
    directory = tmp_path_factory.mktemp("results")
    fill(STUDIES, directory)
    return directory


def all_numbers(directory: Path) -> dict:
    return {study.name: summary.numbers(study, directory / "raw") for study in STUDIES}


# What is run


def test_every_run_has_a_name_and_a_file_of_its_own() -> None:
    every = [each for study in STUDIES for each in raw.runs(study)]
    runs = [each for each in every if not each.experiment.runs_of]
    assert len({each.name for each in runs}) == len(runs)
    assert len({each.path(Path("raw")) for each in runs}) == len(runs)
    guests = {run.run_name(each.experiment, each.scheduler) for each in runs}
    assert len(guests) == len(runs)


def test_every_script_is_valid() -> None:
    scripts = {guest.script(r.experiment, r.scheduler) for s in STUDIES for r in raw.runs(s)}
    subprocess.run(["sh", "-n"], input="\n".join(scripts), text=True, check=True)


def test_jobs_lie_on_their_drive() -> None:
    for study in STUDIES:
        for each in raw.runs(study):
            size = each.experiment.drive.size
            assert all(job.offset + job.size <= size for job in each.experiment.jobs), each.name


def job_files(script: str) -> dict[str, dict[str, dict[str, str]]]:
    """The job files that a script writes, by the command with which fio is started."""
    files, commands = {}, {}
    for name, text in re.findall(r"^cat >(\S+) <<'END'\n(.*?)^END$", script, re.M | re.S):
        parser = configparser.ConfigParser(default_section="global")
        parser.read_string(text)
        files[name] = {section: dict(parser[section]) for section in parser.sections()}
    for line in script.splitlines():
        if match := re.match(r"(.*fio) --\S+ .* (\S+) & ", line):
            commands[match[1], match[2]] = files.pop(match[2])
    assert not files
    return commands


def test_each_job_is_a_process_in_its_cgroup() -> None:
    [(command, jobs)] = job_files(
        guest.script(bandwidth.STUDY.cases[0].first, schedulers.BFQ)
    ).items()
    assert command == ("fio", "stage0.fio")
    assert {name: job["cgroup"] for name, job in jobs.items()} == {"app1": "app1", "app2": "app2"}
    assert [job["rw"] for job in jobs.values()] == ["randread", "read"]
    assert all("new_group" in job and "thread" not in job for job in jobs.values())


def test_a_job_that_is_ahead_has_a_fio_of_its_own() -> None:
    experiment = flash.READ.cases[0].first
    [ahead] = [job.name for job in experiment.jobs if job.ahead]
    commands = job_files(guest.script(experiment, schedulers.NONE))
    assert [list(jobs) for command, jobs in commands.items() if "chrt" in command[0]] == [[ahead]]
    assert sorted(guest.reports(experiment)) == ["ahead0.json", "stage0.json"]
    assert sum(len(jobs) for jobs in commands.values()) == len(experiment.jobs)


def test_what_operators_use_is_written_to_the_cgroups() -> None:
    experiment = neighbour.STUDY.cases[0].first
    scripts = {each.name: guest.script(experiment, each) for each in experiment.schedulers}
    cgroups = "/sys/fs/cgroup"
    assert f"expect_put OK 800 {cgroups}/app2/io.bfq.weight" in scripts["bfq-weight"]
    assert f'expect_put OK "$dev wiops=20" {cgroups}/flood/io.max' in scripts["io.max"]
    assert "app1/io.max" not in scripts["io.max"]
    assert f"{cgroups}/io.cost.qos" in scripts["io.cost"]
    assert f'"$dev bw=204800 burst=8192 latency=50000" {cgroups}/app1/io.htbs' in scripts["htbs"]


def test_a_recording_begins_when_the_drive_has_no_scheduler_yet() -> None:
    """And what is recorded is the same experiment."""
    experiment = bandwidth.STUDY.cases[0].first
    lines = guest.script(experiment, schedulers.HTBS, recorded=True).splitlines()
    assert lines.index("load htbs") < lines.index("record") < lines.index("scheduler sim0 htbs")
    lines.remove("record")
    assert lines.pop() == "recorded"
    assert lines == guest.script(experiment, schedulers.HTBS).splitlines()


@pytest.mark.parametrize("overdue", [True, False])
def test_a_request_that_starves_fails_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overdue: bool
) -> None:
    """The lines of a script that watch, run by a shell; other schedulers have no such file."""
    state = tmp_path / "state"
    state.write_text(f"oldest          pending for 40000000 us{': overdue' if overdue else ''}\n")
    monkeypatch.setattr(guest, "STATE", str(state))
    experiment = replace(bandwidth.STUDY.cases[0].first, seconds=3)
    [watch, check] = [
        line for line in guest.script(experiment, schedulers.HTBS).splitlines() if "overdue" in line
    ]
    script = f"""
        fail() {{ echo "FAIL: $*" >&2; exit 1; }}
        exec >ticks
        {watch}
        until grep -qs '{guest.TICK}2' ticks; do sleep 0.05; done
        kill $ticker
        {check}
    """
    done = subprocess.run(
        ["sh", "-ec", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == overdue, done
    assert ("FAIL: a request starves: oldest" in done.stderr) == overdue
    assert "overdue" not in guest.script(experiment, schedulers.BFQ)


def test_what_decides_is_recorded_from_every_study() -> None:
    """The forms of HTBS and nobody else, and for no longer than was asked for."""
    some = conformance.known()
    assert list(some) == ["demo", *(study.name for study in STUDIES)]
    for name, experiments in some.items():
        found = conformance.runs(experiments, 2).values()
        assert {scheduler.elevator for _, scheduler in found} == {"htbs"}, name
        assert max(experiment.seconds for experiment, _ in found) <= 2, name


def test_seeds_move_the_sequential_readers_and_nothing_else() -> None:
    one, two = (total.jobs(drives.PAPER, 2, seed) for seed in (1, 2))
    assert [job.offset for job in one] != [job.offset for job in two]
    assert [replace(job, offset=0) for job in one] == [replace(job, offset=0) for job in two]


def test_borrowed_runs_are_the_same_runs() -> None:
    every = [each for study in STUDIES for each in raw.runs(study)]
    own = {each.name: each for each in every if not each.experiment.runs_of}
    borrowed = [each for each in every if each.experiment.runs_of]
    assert borrowed
    for each in borrowed:
        assert each.inputs(MACHINE) == own[each.name].inputs(MACHINE)


def test_stages_follow_each_other() -> None:
    experiment = boundary.experiment(1)
    script = guest.script(experiment, schedulers.HTBS)
    waits = script.split("wait $job; done\n")
    assert len(waits) == boundary.SETS + 1
    for number, stage in enumerate(waits[:-1], 1):
        [jobs] = job_files(stage).values()
        assert jobs and all(name.startswith(f"set{number}g") for name in jobs)


def rests(script: str) -> list[tuple[float, float]]:
    """When fio is stopped, by the seconds before and the seconds that it lasts, in each stage."""
    pattern = r"^sleep (\S+)\nkill -STOP \$jobs\nsleep (\S+)\nkill -CONT \$jobs\nfor job in"
    return [(float(begun), float(rest)) for begun, rest in re.findall(pattern, script, re.M)]


def test_fio_rests_from_the_last_start_to_the_first_end() -> None:
    apart = bandwidth.STUDY.cases[0].first
    assert rests(guest.script(apart, schedulers.BFQ)) == [(2, 298)]
    assert rests(guest.script(replace(apart, apart=7.5), schedulers.BFQ)) == [(8.5, 291.5)]
    assert rests(guest.script(boundary.experiment(1), schedulers.HTBS)) == boundary.SETS * [(1, 2)]


def test_fio_that_is_over_too_soon_does_not_rest() -> None:
    short = replace(bandwidth.STUDY.cases[0].first, seconds=2)
    assert "STOP" not in guest.script(short, schedulers.BFQ)
    assert rests(guest.script(replace(short, apart=0), schedulers.BFQ)) == [(1, 1)]


# Raw results, and whether to run again


def first_run() -> Run:
    return next(raw.runs(bandwidth.STUDY))


def save(each: Run, directory: Path) -> None:
    each.save(directory, MACHINE, {"app1": result(), "app2": result()})


def test_saved_run_is_done(tmp_path: Path) -> None:
    each = first_run()
    assert not each.done(tmp_path, MACHINE)
    save(each, tmp_path)
    assert each.done(tmp_path, MACHINE)
    assert lab.missing({"a": each}, tmp_path, MACHINE) == {}


@pytest.mark.parametrize(
    "machine",
    [
        replace(MACHINE, kernel=Kernel("6.12.1-amd64", Path("/"))),
        replace(MACHINE, files=MACHINE.files | {"htbs.ko": b"another"}),
        replace(MACHINE, versions=MACHINE.versions | {"fio": "fio-3.34"}),
    ],
)
def test_other_inputs_are_run_again(tmp_path: Path, machine: Machine) -> None:
    save(first_run(), tmp_path)
    assert not first_run().done(tmp_path, machine)
    assert lab.missing({"a": first_run()}, tmp_path, machine)


def test_other_experiment_is_run_again(tmp_path: Path) -> None:
    each = first_run()
    save(each, tmp_path)
    longer = replace(each, experiment=replace(each.experiment, seconds=301))
    assert not longer.done(tmp_path, MACHINE)


def test_peers_are_not_run_again_for_another_htbs(tmp_path: Path) -> None:
    bfq = Run(bandwidth.STUDY.cases[0].first, schedulers.BFQ)
    save(bfq, tmp_path)
    assert bfq.done(tmp_path, replace(MACHINE, files=MACHINE.files | {"htbs.ko": b"another"}))


def test_broken_file_is_run_again(tmp_path: Path) -> None:
    each = first_run()
    save(each, tmp_path)
    path = each.path(tmp_path)
    path.write_text(path.read_text()[:-20])
    assert not each.done(tmp_path, MACHINE)


def test_raw_results_tell_what_was_run(tmp_path: Path) -> None:
    save(first_run(), tmp_path)
    saved = first_run().load(tmp_path)
    assert saved["kernel"] == "6.12.0-amd64"
    assert (saved["seed"], saved["seconds"]) == (1, 300)
    assert saved["tunables"]["b_max"] == 1
    job = saved["jobs"][1]
    assert job["files"] == {"io.htbs": "$dev bw=819200 burst=8192 latency=100000"}
    assert job["stat"] == "8:0 conforming=9 met=9 missed=0 late_max_us=0"
    assert len(job["series"]) == 60


# Numbers


def test_latency_over_time_is_least_middle_and_largest() -> None:
    requests = [
        Request(at, ns, 4096) for at, ns in ((0, 3), (10, 1), (20, 2), (1500, 5), (2000, 7))
    ]
    in_ms = [replace(each, latency_ns=each.latency_ns * 1_000_000) for each in requests]
    assert reduce.latency(in_ms, 2, 2) == [(0.5, 1.0, 2.0, 3.0), (1.5, 5.0, 5.0, 5.0)]


def fio_report(name: str, ios: int, processes: int = 1) -> dict:
    """What fio says of a job that read 4k blocks for 1001 ms."""
    side = {"total_ios": ios, "io_bytes": ios * 4096, "lat_ns": {"mean": 1.0, "N": ios}}
    report = {"jobname": name, "error": 0, "read": side, "write": {**side, "total_ios": 0}}
    report |= {"job_runtime": 1001 * processes, "usr_cpu": 1.0, "sys_cpu": 2.0}
    return report | {"job options": {"numjobs": str(processes)}}


def test_fio_error_is_named() -> None:
    with pytest.raises(reduce.ReduceError, match="fio's job app1 failed with error 5"):
        reduce.fio_job({"jobname": "app1", "error": 5})


def test_an_incomplete_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what it left is kept."""
    [case], out = bandwidth.STUDY.cases, tmp_path / "build/out"
    experiment, scheduler = case.first, case.first.schedulers[-1]
    out.mkdir(parents=True)
    jobs = [fio_report(job.name, ios=1) for job in experiment.jobs]
    for name in guest.reports(experiment):
        (out / name).write_text(json.dumps({"jobs": jobs}))
    for job, line in zip(experiment.jobs, ("1, 2, 0, 4096", "a line that was cut"), strict=True):
        (out / f"{job.name}.log").write_text(line)
        (out / f"{job.name}.stat").write_text("")

    class Left:
        def __init__(self, kernel: Kernel, name: str, **_: object):
            self.name = name

        def run(self, script: str, on_line: object) -> Result:
            return Result(0, "", out, "", 1)

    monkeypatch.setattr(run, "Guest", Left)
    monkeypatch.setattr(run, "REPO", tmp_path)
    with pytest.raises(GuestError, match=r"bandwidth.*: line 1 .*is no request.* in build/out$"):
        run.run_one(experiment, scheduler, MACHINE.kernel, {}, lambda share: None)
    assert all((out / f"{job.name}.log").exists() for job in experiment.jobs)


def test_processes_of_a_job_run_side_by_side() -> None:
    fio = reduce.fio_job(fio_report("readers", ios=8, processes=4))
    assert fio["runtime_ms"] == 1001
    request = reduce.Request(0, 1, 4096)
    reduce.check_whole(8 * [request], fio)
    with pytest.raises(reduce.ReduceError, match="the log has 7 of 8 requests"):
        reduce.check_whole(7 * [request], fio)


def test_seeds_are_averaged_and_late_requests_added(tmp_path: Path) -> None:
    fill([total.STUDY], tmp_path, lambda each, job: result(each.experiment.seed * 4096, late=1))
    got = summary.numbers(total.STUDY, tmp_path / "raw")["total-7+0"]
    assert got["htbs-paper"]["seq1"]["bw"] == 2 * 4096
    assert got["htbs-paper"]["seq1"]["late"] == 3
    assert got["htbs-paper"]["total_bw"] == 7 * 2 * 4096
    spread = [got["htbs-paper"][f"total_bw_{end}"] for end in ("min", "max")]
    assert spread == [7 * 4096, 7 * 3 * 4096]
    assert got["none"]["seq1"]["late"] == 1
    assert "total_bw_min" not in got["none"]


def test_summary_has_the_published_form(filled: Path, tmp_path: Path) -> None:
    prices = {"htbs": {"added_ns": {"random": 1}}}
    summary.write(STUDIES, all_numbers(filled), prices, tmp_path / "summary.json")
    whole = json.loads((tmp_path / "summary.json").read_text())
    assert list(whole) == ["experiments", "bench"]
    assert whole["bench"] == prices
    assert {"bandwidth", "latency", "total-7+4"} <= whole["experiments"].keys()
    for experiment in whole["experiments"].values():
        assert list(experiment) == ["runs", "claims"]
        for claim in experiment["claims"]:
            assert list(claim) == ["claim", "holds", "evidence"]
        for jobs in experiment["runs"].values():
            keys = {"bw", "iops", "p50_us", "p99_us", "max_us", "late"}
            every = [job for name, job in jobs.items() if not name.startswith("total_bw")]
            assert all(keys <= job.keys() for job in every)
            assert jobs["total_bw"] == sum(job["bw"] for job in every)


def test_every_claim_is_in_the_summary(filled: Path) -> None:
    for study in STUDIES:
        cases = {case.name for case in study.cases}
        claims = study.claims(summary.numbers(study, filled / "raw"))
        assert claims
        assert {claim.case for claim in claims} <= cases


# Claims


def holding(study: Study, directory: Path) -> dict[str, bool]:
    claims = study.claims(summary.numbers(study, directory / "raw"))
    return {claim.claim: claim.holds for claim in claims}


def test_paper_is_known_for_five_claims(filled: Path) -> None:
    numbers = all_numbers(filled)
    claims = [claim for study in STUDIES for claim in study.claims(numbers[study.name])]
    assert len([claim for claim in claims if claim.paper]) == 5


def test_bandwidth_claims_are_decided_by_the_numbers(tmp_path: Path) -> None:
    def some(each: Run, job) -> JobResult:
        if each.scheduler.name == "pclock":
            return result(466 * KIB)
        return result(job.reservation.bw, late=job.name == "app2")

    fill([bandwidth.STUDY], tmp_path, some)
    assert holding(bandwidth.STUDY, tmp_path) == {
        "pClock misses the bandwidth of app2": True,
        "HTBS paper gives both applications their bandwidth": True,
        "HTBS paper completes no request late": False,
    }


def test_latency_claims_are_decided_by_the_numbers(tmp_path: Path) -> None:
    fill(
        [latency.STUDY],
        tmp_path,
        lambda each, _: result(mean_ms=8 if each.scheduler.name == "htbs-1" else 1),
    )
    assert holding(latency.STUDY, tmp_path) == {
        "no request is late with B_max 20": True,
        "the jitter of app2 is larger with B_max 20 than with 1, against its mean latency": True,
        "it is so in milliseconds, too": False,
        "the mean latency of app1 is larger with B_max 20 than with 1": False,
    }


@pytest.mark.parametrize(("mean_ms", "holds"), [(8.05, False), (8.2, True)])
def test_what_is_larger_by_luck_is_no_evidence(tmp_path: Path, mean_ms: float, holds: bool) -> None:
    """Less than a hundredth; and the page doesn't explain then what isn't there."""
    fill(
        [latency.STUDY],
        tmp_path,
        lambda each, _: result(mean_ms=8 if each.scheduler.name == "htbs-1" else mean_ms),
    )
    found = holding(latency.STUDY, tmp_path)
    assert found["the mean latency of app1 is larger with B_max 20 than with 1"] == holds
    runs = summary.numbers(latency.STUDY, tmp_path / "raw")
    assert "makes no difference" in latency.why("latency", runs)


@pytest.mark.parametrize(("gain", "holds"), [(1.24, False), (1.25, True), (4, True)])
def test_gain_over_pclock_is_decided_by_the_numbers(
    tmp_path: Path, gain: float, holds: bool
) -> None:
    def some(each: Run, _) -> JobResult:
        return result(int(1000 * KIB * (1 if each.scheduler.name == "pclock" else gain)))

    fill([total.STUDY], tmp_path, some)
    claims = holding(total.STUDY, tmp_path)
    assert claims[
        "seven sequential readers get 25 % more from HTBS paper than from pClock, or better"
    ] == (holds)


def test_words_name_kept_and_broken_promises(tmp_path: Path) -> None:
    def some(each: Run, job) -> JobResult:
        if each.scheduler.name == "bfq" and job.name == "app1":
            return result(100 * KIB, late=7)
        return result(1000 * KIB)

    fill([bandwidth.STUDY], tmp_path, some)
    numbers = summary.numbers(bandwidth.STUDY, tmp_path / "raw")
    _, _, kept, broken, ranking = words.promises(bandwidth.STUDY, numbers).splitlines()
    assert "HTBS" in kept
    assert "BFQ," not in kept
    assert broken == "- Not by BFQ: app1 got 100 of 200 KB/s and had 7 late, up to 20.0 ms."
    assert "2,000 KB/s in all" in ranking
    assert "BFQ 55%" in ranking


# Page and figures


def test_page_shows_everything_and_its_links_lead_somewhere(filled: Path) -> None:
    page.write(STUDIES, all_numbers(filled), "## The price\n\nnothing\n", filled)
    text = (filled / "README.md").read_text()
    anchors = {page.anchor(line.lstrip("# ")) for line in text.splitlines() if line[:2] == "##"}
    linked = set(re.findall(r"\]\(#([^)]*)\)", text))
    assert linked
    assert linked <= anchors
    for study in STUDIES:
        assert f"    make lab EXPERIMENT={study.name}\n" in text
        assert f"](figures/{study.name}.png)" in text
    assert "## The price" in text
    assert "Not run yet" not in text
    assert text.count("holds") == text.count("hold") - text.count("not hold**")


def test_page_has_tables_with_as_many_cells_in_each_line(filled: Path) -> None:
    page.write(STUDIES, all_numbers(filled), "", filled)
    for part in (filled / "README.md").read_text().split("\n\n"):
        rows = [line for line in part.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


def test_page_says_what_was_not_run(tmp_path: Path) -> None:
    fill([bandwidth.STUDY], tmp_path)
    assert summary.missing(latency.STUDY, tmp_path / "raw") == [
        "latency htbs-1 1",
        "latency htbs-20 1",
    ]
    numbers = {"bandwidth": summary.numbers(bandwidth.STUDY, tmp_path / "raw")}
    page.write([bandwidth.STUDY, latency.STUDY], numbers, "", tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert text.count("Not run yet.") == 1
    assert "figures/latency.png" not in text


def test_the_same_results_make_the_same_files(filled: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        fill([latency.STUDY], tmp_path / name)
        numbers = summary.numbers(latency.STUDY, tmp_path / name / "raw")
        series = summary.series(latency.STUDY, tmp_path / name / "raw")
        latency.STUDY.figure(latency.STUDY, numbers, series, tmp_path / name / "figure.png")
        page.write([latency.STUDY], {"latency": numbers}, "", tmp_path / name)
    files = [sorted(path for path in (tmp_path / name).rglob("*.*")) for name in ("a", "b")]
    assert len(files[0]) == len(files[1]) == 4
    for one, two in zip(*files, strict=True):
        assert one.read_bytes() == two.read_bytes(), one.name


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_figure_is_drawn(study: Study, filled: Path, tmp_path: Path) -> None:
    numbers = summary.numbers(study, filled / "raw")
    study.figure(study, numbers, summary.series(study, filled / "raw"), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_bench_is_taken_in_if_it_was_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filled: Path
) -> None:
    monkeypatch.setattr(lab, "RESULTS", tmp_path)
    assert lab.bench() == ({}, "")
    found = {"kernel": "6.12", "schedulers": {"htbs": {"scaling_2cpu": 1.2}}}
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "summary.json").write_text(json.dumps(found))
    section = SimpleNamespace(section=lambda summary: f"## The price\n\n{summary['kernel']}\n")
    monkeypatch.setitem(sys.modules, "results.bench.page", section)
    prices, text = lab.bench()
    assert prices == {"htbs": {"scaling_2cpu": 1.2}, "kernel": "6.12"}
    page.write(STUDIES, all_numbers(filled), text, filled)
    written = (filled / "README.md").read_text()
    assert "## The price\n\n6.12\n" in written
    assert "[The price](#the-price)" in written


# What the user says and sees


def test_experiment_is_chosen_by_name() -> None:
    assert lab.chosen("latency") == ["latency"]
    assert lab.chosen("") == [study.name for study in STUDIES]
    with pytest.raises(SystemExit, match="no experiment 'x'; there are: bandwidth, latency, "):
        lab.chosen("x")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "two", "２"])
def test_bad_lab_seconds_is_refused(text: str) -> None:
    with pytest.raises(SystemExit, match="LAB_SECONDS is a whole number from 1"):
        lab.seconds_wanted(text)


def test_trial_is_shorter() -> None:
    short = lab.shortened(bandwidth.STUDY, 2)
    assert {each.experiment.seconds for each in raw.runs(short)} == {2}
    assert lab.shortened(latency.STUDY, 60).cases[0].first.seconds == 10


def test_speed_is_told_by_drive() -> None:
    times = [("disk", 60, 20.0, 10.0), ("flash", 2, 10.0, 2.0), ("disk", 30, 10.0, 8.0)]
    assert lab.speeds([lab.Spent(*each) for each in times], 2) == [
        "disk: 90 s of virtual time, 10.0 per real second, 6.0 with the boots",
        "flash: 2 s of virtual time, 2.0 per real second, 0.4 with the boots",
    ]


def test_jobs_take_what_is_neither_boot_nor_end() -> None:
    heard = [(100.0, 0), (104.0, 0.1 + 0.9 / 30), (106.0, 0.1 + 0.9 / 2), (150.0, 1)]
    assert run.jobs_took(heard) == pytest.approx(2 * 30 / 14)
    assert run.jobs_took(heard[:2]) == 0


def test_one_failing_task_ends_the_others() -> None:
    class Silent:
        def advance(self, name: str, share: float) -> None:
            pass

        def close(self) -> None:
            pass

    def fail(_) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        run.side_by_side({"a": fail, "b": lambda advance: advance(1)}, Silent())
    assert run.side_by_side({"a": lambda _: 1, "b": lambda _: 2}, Silent()) == {"a": 1, "b": 2}
