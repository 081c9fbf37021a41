"""Experiments as scripts of guests: each runs what its title and its paragraph say."""

import configparser
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from results.experiments import STUDIES, bandwidth, drives, neighbour, schedulers, total
from results.experiments.guarantee import boundary, flash, journal
from results.lab import guest, raw, run


def test_every_run_has_a_name_and_a_file_of_its_own() -> None:
    every = [each for study in STUDIES for each in raw.runs(study)]
    runs = [each for each in every if not each.experiment.runs_of]
    assert len({each.name for each in runs}) == len(runs)
    assert len({each.path(Path("raw")) for each in runs}) == len(runs)
    guests = {run.run_name(each.experiment, each.scheduler) for each in runs}
    assert len(guests) == len(runs)


def test_title_of_htbs_has_all_that_is_set() -> None:
    """Only pClock has a name of its own; HTBS alone has its default settings."""
    every = [each for study in STUDIES for each in study.schedulers if each.reserves]
    names = {"htbs": "HTBS", "htbs-paper": "paper"}
    for way in (each for each in every if each != schedulers.PCLOCK):
        first, *written = re.match(r"(\S+(?: \S+=\S+)*)(?: \(.*\))?$", way.title)[1].split()
        settings = {**way.parameters, **way.tunables}
        assert first == names[way.module], way
        assert written == [f"{name}={value}" for name, value in settings.items()], way
    assert (schedulers.PCLOCK.parameters, schedulers.PCLOCK.tunables) == (
        {"b_max": 1}, {"t_wait_us": 0}
    )  # fmt: skip


def test_jobs_lie_on_their_drive() -> None:
    for study in STUDIES:
        for each in raw.runs(study):
            size = each.experiment.drive.size
            assert all(job.offset + job.size <= size for job in each.experiment.jobs), each.name


def job_files(script: str) -> dict[str, dict[str, dict[str, str]]]:
    """Return the job files of a script, by the command that starts fio."""
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


def test_a_job_that_starts_first_has_a_fio_of_its_own() -> None:
    experiment = flash.READ.cases[0].first
    [ahead] = [job.name for job in experiment.jobs if job.ahead]
    commands = job_files(guest.script(experiment, schedulers.NONE))
    assert [list(jobs) for command, jobs in commands.items() if "chrt" in command[0]] == [[ahead]]
    assert sorted(guest.reports(experiment)) == ["ahead0.json", "stage0.json"]
    assert sum(len(jobs) for jobs in commands.values()) == len(experiment.jobs)


def test_a_job_that_starts_first_has_no_real_time_io_class() -> None:
    experiment = flash.READ.cases[0].first
    jobs = {
        name: job
        for jobs in job_files(guest.script(experiment, schedulers.NONE)).values()
        for name, job in jobs.items()
    }
    classes = {job.name: jobs[job.name].get("prioclass") for job in experiment.jobs}
    assert classes == {job.name: "2" if job.ahead else None for job in experiment.jobs}


def test_files_are_on_a_volume_that_is_made_without_the_scheduler() -> None:
    script = guest.script(journal.CASE.first, schedulers.HTBS)
    [jobs] = job_files(script).values()
    assert {name: job["filename"] for name, job in jobs.items()} == {
        name: f"/volumes/files/{name}" for name in ("store", "writer")
    }
    made = script.index("\nvolume 1 files ")
    assert made < script.index(f"scheduler {guest.DISK} htbs")
    assert all(job["direct"] == "0" for job in jobs.values())


def test_settings_of_operators_are_written_to_the_cgroups() -> None:
    experiment = neighbour.STUDY.cases[0].first
    scripts = {each.name: guest.script(experiment, each) for each in experiment.schedulers}
    cgroups = "/sys/fs/cgroup"
    assert f"expect_put OK 800 {cgroups}/app2/io.bfq.weight" in scripts["bfq-weight"]
    assert f'expect_put OK "$dev wiops=20" {cgroups}/flood/io.max' in scripts["io.max"]
    assert "app1/io.max" not in scripts["io.max"]
    assert f"{cgroups}/io.cost.qos" in scripts["io.cost"]
    assert f'"$dev bw=204800 burst=65536 latency=80000" {cgroups}/app1/io.htbs' in scripts["htbs"]


@pytest.mark.parametrize("overdue", [True, False])
def test_a_request_that_starves_fails_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overdue: bool
) -> None:
    """Run the lines of a script that look for it in a shell; only HTBS has such a file."""
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


def test_seeds_move_the_sequential_readers_and_nothing_else() -> None:
    one, two = (total.jobs(drives.PAPER, 2, seed) for seed in (1, 2))
    assert [job.offset for job in one] != [job.offset for job in two]
    assert [replace(job, offset=0) for job in one] == [replace(job, offset=0) for job in two]


def test_stages_follow_each_other() -> None:
    experiment = boundary.experiment(1)
    script = guest.script(experiment, schedulers.HTBS)
    waits = script.split("wait $job; done\n")
    assert len(waits) == boundary.SETS + 1
    for number, stage in enumerate(waits[:-1], 1):
        [jobs] = job_files(stage).values()
        assert jobs and all(name.startswith(f"set{number}g") for name in jobs)


def test_early_late_requests_are_kept_if_the_experiment_needs_them() -> None:
    """They are kept only for schedulers with reservations, and while the jobs run."""
    without = boundary.experiment(1)
    its = replace(without, early=2)
    first = its.jobs[0].name
    keep = f"(sleep 2; cat /sys/fs/cgroup/{first}/io.htbs.stat >{first}.early; "
    script = guest.script(its, schedulers.HTBS)
    assert script.count(keep) == 1
    assert script.index("fio --") < script.index(keep) < script.index("wait $job")
    assert ".early" not in guest.script(its, schedulers.BFQ)
    assert ".early" not in guest.script(without, schedulers.HTBS)
