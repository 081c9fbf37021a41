"""The census in guests: reservations on a drawn drive, and the page made of the runs."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from results.census import __main__ as census
from results.census import again, before, figure, guest, page, promises, raw, summary, workloads
from results.census.guest import Boot
from results.experiments import bandwidth, schedulers
from results.lab import figure as lab_figure
from results.lab.experiment import KIB, Job, Reservation
from tests.sim.drives import Disk, Flash, draw, draw_flash
from tests.simdisk import model
from tests.unit.results import MACHINE, result

DRIVES = workloads.draw_drives(7, 30)


@pytest.fixture(scope="module")
def found() -> dict:
    """Return the summary of the tree."""
    return json.loads(census.SUMMARY.read_text())


def test_page_follows_from_the_summary(found: dict) -> None:
    text = census.PAGE.read_text()
    assert text == page.text(found), "make census GUEST=1 writes it"
    assert f"make census GUEST=1 SEED={found['seed']} DRIVES={len(found['drives'])}\n" in text


def test_figure_follows_from_the_summary(found: dict) -> None:
    path = census.DIRECTORY / "census.png"
    assert lab_figure.shown_by(path) == figure.source(found), "make census GUEST=1 draws it"


def test_the_page_has_each_census_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each seed and count, the oldest first; a page without these is left out."""
    pages = {
        "a1": "make census GUEST=1 SEED=5 DRIVES=30",
        "b2": "SEED=7 ... Of 155 sets of reservations\neach scheduler keeps: HTBS 145, none 3.",
        "c3": "SEED=7 ... Of 155 sets of reservations each scheduler keeps: HTBS 145, none 4.",
        "d4": "SEED=7 ... Of 155 sets of reservations each scheduler keeps: HTBS 150, none 4.",
    }

    def git(command: str, *arguments: str) -> str:
        if command == "show":
            return pages[arguments[0].partition(":")[0]]
        assert "--reverse" in arguments
        return "".join(f"{commit} 2026-11-25\n" for commit in pages)

    monkeypatch.setattr(before, "_git", git)
    found = [(row["commit"], row["seed"], row["kept"], row["of"]) for row in before.rows()]
    assert found == [("b2", 7, 145, 155), ("d4", 7, 150, 155)]


def test_more_drives_begin_with_fewer() -> None:
    """So a larger census has the guests of a smaller one."""
    assert workloads.draw_drives(7, 5) == DRIVES[:5]
    assert workloads.draw_drives(8, 5) != DRIVES[:5]


def test_both_kinds_are_drawn() -> None:
    assert [isinstance(drive, Flash) for drive in DRIVES[:6]] == [False, False, True] * 2


@pytest.mark.parametrize("place", range(len(DRIVES)))
def test_the_load_is_feasible(place: int) -> None:
    """The load is near to what the drive can do, so it is no easier than in the lab."""
    asked = workloads.experiments(DRIVES[place], 1)
    for name, its in asked.items():
        drive = DRIVES[place]
        assert promises.feasible(its.jobs, drive), name
        assert promises.share(its.jobs, drive) <= 0.901, name
        assert promises.tightness(its.jobs, drive) <= 1.001, name
        if isinstance(drive, Disk) and name in {"5.1", "neighbour"}:
            assert promises.share(its.jobs, drive) > 0.6, name
        assert all(job.offset + job.size <= its.drive.size for job in its.jobs), name


def test_each_workload_is_asked() -> None:
    every = {name for drive in DRIVES for name in workloads.experiments(drive, 1)}
    assert every == {each.name for each in workloads.WORKLOADS}


def test_on_disks_the_first_jobs_start_apart() -> None:
    """The last one, too, has two seconds before the part that is measured; no run is shorter."""
    disk, flash = (
        next(drive for drive in DRIVES if isinstance(drive, kind)) for kind in (Disk, Flash)
    )
    pair = workloads.experiments(disk, 1)["5.1"]
    assert (pair.apart, pair.early) == (1, 3)
    its = workloads.experiments(flash, 1)
    assert (its["5.1"].apart, its["5.1"].early) == (0, 0)
    assert (its["flash-write"].apart, its["flash-write"].early) == (0, 2)


def test_the_lab_disk_has_the_lab_reservations() -> None:
    """Scaled to the lab's drive the reservations are the same, except for 50 ms: a seek less."""
    jobs = promises.scaled((bandwidth.APP1, bandwidth.APP2), promises.LAB_DISK)
    for job, old in zip(jobs, (bandwidth.APP1, bandwidth.APP2), strict=True):
        assert job.reservation.bw == pytest.approx(old.reservation.bw, rel=0.01)
        assert old.reservation.latency_us <= job.reservation.latency_us
        assert job.reservation.latency_us < 1.1 * old.reservation.latency_us


def test_too_much_is_not_feasible() -> None:
    drive = promises.LAB_DISK
    jobs = promises.scaled((bandwidth.APP1, bandwidth.APP2), drive)
    app1 = jobs[0].reservation
    more = replace(jobs[0], reservation=replace(app1, bw=2 * app1.bw))
    sooner = replace(jobs[0], reservation=replace(app1, latency_us=app1.latency_us // 2))
    assert promises.feasible(jobs, drive)
    assert not promises.feasible((more, jobs[1]), drive)
    assert not promises.feasible((sooner, jobs[1]), drive)


def test_cleaning_counts_for_a_writer() -> None:
    """Beside a writer the latency on a shingled disk has to be longer than its cleaning."""
    disk = promises.LAB_DISK
    shingled = replace(disk, clean_writes=100, clean=400_000_000)
    reader = Job("reader", "randread", 0, KIB << 10, Reservation(64 * KIB, 4096, 60_000))
    writer = Job("writer", "randwrite", 0, KIB << 10, None)
    assert promises.scaled((reader, writer), disk)[0].reservation.latency_us < 70_000
    assert promises.scaled((reader, writer), shingled)[0].reservation.latency_us > 400_000
    assert promises.scaled((reader,), shingled)[0].reservation.latency_us < 70_000
    assert promises.rest_bw((reader, writer), shingled) < promises.rest_bw((reader, writer), disk)


@pytest.mark.parametrize("seed", range(6))
def test_a_disk_is_no_slower_than_its_reservations_assume(seed: int) -> None:
    """The longest of many random reads, and their mean, are those of promises.py."""
    drive = replace(draw(random.Random(seed), depth=1), hypervisor=None)
    profile, rng = drive.profile(), random.Random(seed)
    fields = {name: getattr(profile, name) for name, *_ in profile._fields_}
    its, expected = model.Disk(**fields), promises.times(drive)
    reads = [its.read(rng.randrange(its.profile.sectors // 8) * 8) for _ in range(3000)]
    assert max(reads) <= expected.longest(4096, False)
    assert sum(reads) / len(reads) == pytest.approx(expected.mean(4096, False), rel=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_a_flash_drive_is_no_slower_than_its_reservations_assume(seed: int) -> None:
    drive = replace(draw_flash(random.Random(seed)), hypervisor=None)
    profile, rng = drive.profile(), random.Random(seed)
    fields = {name: getattr(profile, name) for name, *_ in profile._fields_}
    its, expected = model.Flash(**fields), promises.times(drive)
    reads = [its.read(rng.randrange(its.slots) * 8) for _ in range(1000)]
    assert max(reads) <= expected.longest(4096, False)
    assert sum(reads) / len(reads) == pytest.approx(expected.mean(4096, False), rel=0.1)


def boot(place: int = 0, way: int = 0) -> Boot:
    """A guest of the census."""
    return census.boots_of(place, DRIVES[place], 7)[way]


def test_a_guest_runs_each_workload_on_a_new_drive() -> None:
    each = boot()
    parts = each.script.split("rmmod simdisk\n")
    assert len(parts) == len(each.experiments) + 1
    for name, part in zip(each.experiments, parts, strict=False):
        assert f"mkdir {name}\ncd {name}\n" in part
        assert part.count("load simdisk ") == 1
    assert "rmmod htbs\n" in each.script
    assert "rmmod htbs" not in boot(way=2).script


def test_a_guest_has_the_drive_that_was_drawn() -> None:
    """Each number of the model is a parameter of the module, and virtio-blk has no budget."""
    for place, drive in enumerate(DRIVES):
        numbers = workloads.lab_drive(drive).parameters
        profile = drive.profile()
        assert all(numbers[name] == getattr(profile, name) for name, *_ in profile._fields_)
        assert ("budget=0" in boot(place).script) == (drive.hypervisor is not None)
        cached = isinstance(drive, Disk) and drive.write_cache
        assert ("write_cache=1" in boot(place).script) == cached


def fill(directory: Path, each: Boot) -> None:
    """Save raw data of a guest."""
    found = {
        name: {job.name: result() for job in its.jobs} for name, its in each.experiments.items()
    }
    raw.save(each, MACHINE, directory, found)


def test_guests_with_the_same_inputs_are_not_run_again(tmp_path: Path) -> None:
    each = boot()
    assert raw.load(each, MACHINE, tmp_path) is None
    fill(tmp_path, each)
    assert set(raw.load(each, MACHINE, tmp_path)["experiments"]) == set(each.experiments)
    slower = replace(each, experiments={
        name: replace(its, seconds=2 * its.seconds) for name, its in each.experiments.items()
    })  # fmt: skip
    assert raw.load(slower, MACHINE, tmp_path) is None
    other = replace(MACHINE, files=MACHINE.files | {"simdisk.ko": b"another"})
    assert raw.load(each, other, tmp_path) is None


def test_a_guest_that_fails_does_not_end_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = boot(0), boot(1)

    def measure(each: Boot, *_: object) -> dict:
        if each == bad:
            raise guest.GuestError("it starves")
        return {name: {job.name: result() for job in its.jobs}
                for name, its in each.experiments.items()}

    monkeypatch.setattr(guest, "measure", measure)
    monkeypatch.setattr(census, "RAW", tmp_path)
    failed = census.work([bad, good], MACHINE)
    assert [str(error) for error in failed] == ["it starves"]
    assert raw.load(good, MACHINE, tmp_path)
    assert raw.load(bad, MACHINE, tmp_path) is None


def numbers(**changes: object) -> dict:
    """Return the raw data of a job."""
    base = {"bw": 100_000, "p99_us": 5_000, "late": 0, "requests": 1_000}
    stat = changes.pop("stat", None)
    return {"numbers": base | changes, **({"stat": stat} if stat else {})}


def test_the_kept_part_of_a_group() -> None:
    """The part of its reservation or of its load, whichever is less; the worst group counts."""
    its = replace(workloads.experiments(DRIVES[0], 1)["5.1"], jobs=(reader, steady))
    found = {"none": {"reader": numbers(bw=50_000), "steady": numbers(bw=30_000)}}
    assert summary.reduced(its, found)["none"]["kept"] == 0.5
    found = {"none": {"reader": numbers(bw=90_000), "steady": numbers(bw=20_000)}}
    assert summary.reduced(its, found)["none"]["kept"] == pytest.approx(2 / 3, abs=1e-4)


def test_the_last_requests_of_a_group_may_be_pending() -> None:
    its = replace(workloads.experiments(DRIVES[0], 1)["5.1"], jobs=(patient,), seconds=10)
    found = {"none": {"reader": numbers(bw=90_000)}}
    assert summary.reduced(its, found)["none"]["kept"] == 1
    found = {"none": {"reader": numbers(bw=81_000)}}
    assert summary.reduced(its, found)["none"]["kept"] == 0.9


def test_a_job_that_starts_later_has_less_time() -> None:
    """For a job that runs for five of ten seconds, a fifth need not be done yet, not a tenth."""
    jobs = (replace(steady, name="first"), patient)
    its = replace(
        workloads.experiments(DRIVES[0], 1)["5.1"], jobs=jobs, seconds=10, apart=5
    )
    found = {"none": {"first": numbers(bw=60_000), "reader": numbers(bw=80_000)}}
    assert summary.reduced(its, found)["none"]["kept"] == 1
    found = {"none": {"first": numbers(bw=60_000), "reader": numbers(bw=72_000)}}
    assert summary.reduced(its, found)["none"]["kept"] == 0.9


reader = Job("reader", "randread", 0, KIB << 10, Reservation(100_000, 4096, 1))
patient = replace(reader, reservation=Reservation(100_000, 4096, 1_000_000))
steady = Job(
    "steady", "read", 0, KIB << 10, Reservation(60_000, 4096, 1), options={"rate": 30_000}
)
poisson = replace(reader, options={"rate_iops": 20})


def test_a_random_process_submits_what_the_best_scheduler_served() -> None:
    its = replace(workloads.experiments(DRIVES[0], 1)["5.1"], jobs=(poisson,))
    found = {
        "bfq": {"reader": numbers(bw=70_000)},
        "none": {"reader": numbers(bw=35_000)},
    }
    kept = {name: each["kept"] for name, each in summary.reduced(its, found).items()}
    assert kept == {"bfq": 1, "none": 0.5}


def test_late_is_of_conforming_requests_with_reservations() -> None:
    its = replace(workloads.experiments(DRIVES[0], 1)["5.1"], jobs=(reader,))
    stat = "8:0 conforming=200 met=190 missed=10 late_max_us=0"
    found = {"htbs": {"reader": numbers(late=77, stat=stat)}, "none": {"reader": numbers(late=77)}}
    numbers_of = summary.reduced(its, found)
    assert summary.summed(numbers_of["htbs"]) == (10, 200)
    assert summary.summed(numbers_of["none"]) == (77, 1_000)
    assert summary.summed(numbers_of["htbs"], "beyond", "requests") == (77, 1_000)
    assert summary.part_late(numbers_of["htbs"]) == 0.05
    assert summary.part_late({"groups": {"reader": {"late": 0, "of": 0}}}) == 0


def test_each_group_has_to_be_in_time() -> None:
    """Late requests of one are not hidden by many of another; one late request is tolerated."""
    many = {"late": 0, "of": 100_000, "beyond": 0, "requests": 100_000}
    slow = {"late": 6, "of": 500, "beyond": 60, "requests": 600}
    few = {"late": 1, "of": 20, "beyond": 1, "requests": 100}
    of = {"kept": 1, "groups": {"stream": many, "reader": slow}}
    assert not summary.keeps(of)
    of["groups"]["reader"] = slow | {"late": 5}
    assert summary.keeps(of)
    assert not summary.keeps_all(of)
    assert not summary.keeps_its_word(of, "5.1")
    assert summary.keeps_its_word(of, "flash-write")
    of["groups"]["reader"] = few
    assert summary.keeps(of)
    assert summary.keeps_all(of)
    assert summary.keeps_its_word(of, "5.1")
    assert not summary.keeps(of | {"kept": 0.94})


def test_late_requests_after_the_first_seconds() -> None:
    its = replace(workloads.experiments(DRIVES[0], 1)["5.1"], jobs=(reader, steady))
    job = {**numbers(stat="8:0 conforming=200 met=190 missed=10"),
           "early": "8:0 conforming=50 met=42 missed=8"}
    idle = numbers(stat="8:0 conforming=100 met=99 missed=1")
    [got] = summary.reduced(its, {"htbs": {"reader": job, "steady": idle}}).values()
    assert summary.summed(got) == (11, 300)
    assert summary.summed(summary.afterwards(got)) == (2, 150)
    del job["early"]
    [got] = summary.reduced(its, {"htbs": {"reader": job, "steady": idle}}).values()
    assert summary.summed(summary.afterwards(got)) == (0, 0)


def test_page_says_where_more_are_late() -> None:
    few = way(late=1, early_late=0, early_of=100)
    more = way(late=30, early_late=28, early_of=100)
    longer = way(late=9, early_late=7, early_of=200) | {"title": "HTBS"}
    seldom = way(late=3, early_late=0, early_of=200) | {"title": "HTBS"}
    found = {"workloads": {"5.1": {"2": {"htbs": few}, "7": {"htbs": more}}}}
    text = page.late(found | {"again": {"5.1": {"2": seldom, "7": longer}}})
    assert "31 of 2,000 conforming requests." in text
    said = " ".join(text.split())
    assert "3 of 1,800 are late. More than 1 in 1000 of a group, and more than a single" in said
    assert "are late then in 1 of 2 sets." in said
    rows = [line for line in text.splitlines() if line.startswith("| 5.1: a random")]
    assert [row.split(" | ", 1)[1] for row in rows] == [
        "7 | 30 of 1,000 | 2 of 900 | HTBS | 7 of 200 | 2 of 800 |",
        "2 | 1 of 1,000 | 1 of 900 | HTBS | 0 of 200 | 3 of 800 |",
    ]
    for late in (2, 3):
        after = f"After the time of the first run, {late} of 800 are late, and in 1 of 1 sets"
        assert after in said


def test_some_sets_run_again_without_late_requests() -> None:
    """Rare stalls of a drive show in a longer run only."""
    found = {"5.1": {str(place): {"htbs": way(late=place == 3 and 2)} for place in range(30)}}
    sets = again.chosen(7, found)
    assert ("5.1", "3") in sets
    assert len(sets) == 1 + again.DRAWN
    assert sets == again.chosen(7, found) != again.chosen(8, found)


def test_sets_with_too_many_late_requests_run_again_for_longer() -> None:
    """Under HTBS only; on flash, with 1 in 1000 beside writes, too."""
    drives = DRIVES[:3]
    asked = [workloads.experiments(drive, 7) for drive in drives]
    found = {
        each.name: {
            str(place): {"htbs": way(late=2 if each.name == "neighbour" else 1)}
            for place, its in enumerate(asked)
            if each.name in its
        }
        for each in workloads.WORKLOADS
    }
    every = again.boots(7, drives, found)
    assert list(every) == ["0", "1", "2"]
    boots = list(every.values())
    assert [each.name for each in boots] == ["7-0-again", "7-1-again", "7-2-again"]
    assert [each.way.title for each in boots] == ["HTBS"] * 2 + ["HTBS late_one_in_writes=1000"]
    for boot, its in zip(boots, asked, strict=True):
        longer = boot.experiments["neighbour"]
        assert longer.seconds == 8 * its["neighbour"].seconds
        assert longer.early == its["neighbour"].seconds
        assert longer.jobs == its["neighbour"].jobs


def test_longer_runs_are_summed_up_by_workload_and_drive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    its = replace(workloads.experiments(DRIVES[0], 1)["5.1"], jobs=(reader,))
    job = {**numbers(stat="8:0 conforming=200 met=190 missed=10"),
           "early": "8:0 conforming=50 met=42 missed=8"}
    data = {"inputs": "a hash", "experiments": {"5.1": {"reader": job}}}
    monkeypatch.setattr(raw, "load", lambda *_: data)
    boot = Boot("1-4-again", DRIVES[0], schedulers.HTBS, {"5.1": its})
    found = census.summarised_again({"4": boot}, MACHINE)
    assert found["again_measured_with"] == {"1-4-again": "a hash"}
    longer = found["again"]["5.1"]["4"]
    assert longer["title"] == "HTBS"
    assert summary.summed(summary.afterwards(longer)) == (2, 150)


def way(kept: float = 1, late: int = 0, total: int = 100, **early: int) -> dict:
    """Return a scheduler's numbers on a drive, with one group."""
    group = {"late": late, "of": 1_000, "beyond": late, "requests": 1_000} | early
    return {"kept": kept, "groups": {"reader": group}, "p99": 0.5, "total": total}


def test_only_rivals_that_keep_count() -> None:
    ways = {
        "htbs": way(total=100),
        "bfq": way(kept=0.9, total=300),
        "none": way(late=11, total=400),
        "mq-deadline": way(late=10, total=50),
    }
    assert summary.over_best(ways, "htbs") == 2
    assert summary.over_best(ways, "bfq") == 3
    assert summary.over_best({"htbs": way(), "bfq": way(kept=0)}, "htbs") is None


def test_the_worst_is_the_least_kept_and_the_most_late() -> None:
    drives = {
        "1": {"htbs": way(kept=1, late=30)},
        "2": {"htbs": way(kept=0.5, late=10)},
        "3": {"htbs": way(kept=2, late=20)},
    }
    kept, late, best, _ = summary.COLUMNS
    assert summary.middle_and_worst(drives, "htbs", kept) == (1, 0.5, "2")
    assert summary.middle_and_worst(drives, "htbs", late) == (0.02, 0.03, "1")
    assert summary.middle_and_worst(drives, "htbs", best) is None


def test_readme_has_the_numbers_of_the_page(found: dict) -> None:
    """README.md has the number of reservation sets that each scheduler keeps."""
    pattern = r"Of (\d+) sets of reservations each scheduler keeps: (.*)\.\n"
    [(sets, each)] = re.findall(pattern, page.text(found))
    ours, *others = [way.rsplit(" ", 1)[1] for way in each.split(", ")]
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    assert f"HTBS keeps {ours} of {sets} sets of reservations" in readme
    said = "the paper's rule {}, bfq {}, mq-deadline {}, none {}."
    assert said.format(*others) in " ".join(readme.split())
    [promise] = re.findall(r"HTBS keeps its own promise in (\d+) of them", page.text(found))
    assert f"By its own promise, 1 in 1000, HTBS keeps {promise}." in " ".join(readme.split())


def test_page_says_where_nothing_was_kept(found: dict) -> None:
    """The page has the drive, the numbers, and the schedulers that were better."""
    broken = {each.name: way(kept=0.25, late=5) for each in workloads.WAYS}
    broken["bfq"] = way()
    longer = {"5.1": {"4": way(early_late=0, early_of=9) | {"title": "HTBS"}}}
    text = page.text({**found, "workloads": {"5.1": {"4": broken}}, "again": longer})
    said = "- drive 4: bandwidth / reserved 0.25; late 5 of 1,000 of reader; kept under BFQ\n"
    assert said in text
    assert "Of 1 sets of reservations each scheduler keeps: HTBS 0, " in text
    assert ", BFQ 1, " in text
    assert schedulers.HTBS.title in text
