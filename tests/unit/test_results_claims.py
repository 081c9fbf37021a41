"""The numbers decide claims and sentences."""

from dataclasses import replace
from pathlib import Path

import pytest

from results.experiments import (
    bandwidth,
    drives,
    guarantee,
    latency,
    readahead,
    schedulers,
    total,
)
from results.experiments.guarantee import journal, ncq_disk
from results.lab import summary, words
from results.lab.experiment import KIB
from results.lab.raw import Run
from results.lab.run import JobResult
from results.lab.study import Study
from results.lab.summary import Summary
from tests.simdisk.model import Disk
from tests.unit.results import fill, result

PAPER = schedulers.HTBS_PAPER.title


def holding(study: Study, found: Summary) -> dict[str, bool]:
    claims = study.claims(summary.numbers(study, found))
    return {claim.claim: claim.holds for claim in claims}


def test_bandwidth_claims_are_decided_by_the_numbers(tmp_path: Path) -> None:
    def some(each: Run, job) -> JobResult:
        if each.scheduler.name == "pclock":
            return result(466 * KIB)
        return result(job.reservation.bw, late=job.name == "app2")

    found = fill([bandwidth.STUDY], tmp_path, some)
    assert holding(bandwidth.STUDY, found) == {
        "pClock does not give app2 its bandwidth": True,
        f"{PAPER} gives both applications their bandwidth": True,
        f"{PAPER} completes no request late": False,
    }


def test_latency_claims_are_decided_by_the_numbers(tmp_path: Path) -> None:
    found = fill(
        [latency.STUDY],
        tmp_path,
        lambda each, _: result(mean_ms=8 if each.scheduler.name == "htbs-1" else 1),
    )
    assert holding(latency.STUDY, found) == {
        "no request is late with b_max=20": True,
        "the jitter of app2 over its mean latency is larger with b_max=20 than with b_max=1": True,
        "the jitter of app2 in milliseconds is larger with b_max=20 than with b_max=1": False,
        "the mean latency of app1 is larger with b_max=20 than with b_max=1": False,
    }


@pytest.mark.parametrize(("mean_ms", "holds"), [(8.05, False), (8.2, True)])
def test_less_than_a_hundredth_is_no_difference(
    tmp_path: Path, mean_ms: float, holds: bool
) -> None:
    """The page does not explain a difference that does not exist."""
    found = fill(
        [latency.STUDY],
        tmp_path,
        lambda each, _: result(mean_ms=8 if each.scheduler.name == "htbs-1" else mean_ms),
    )
    claims = holding(latency.STUDY, found)
    assert claims["the mean latency of app1 is larger with b_max=20 than with b_max=1"] == holds
    runs = summary.numbers(latency.STUDY, found)
    assert "makes no difference" in latency.why("latency", runs)


@pytest.mark.parametrize(("gain", "holds"), [(1.24, False), (1.25, True), (4, True)])
def test_gain_over_pclock_is_decided_by_the_numbers(
    tmp_path: Path, gain: float, holds: bool
) -> None:
    def some(each: Run, _) -> JobResult:
        return result(int(1000 * KIB * (1 if each.scheduler.name == "pclock" else gain)))

    claims = holding(total.STUDY, fill([total.STUDY], tmp_path, some))
    claim = f"seven sequential readers get at least 25 % more under {PAPER} than under pClock"
    assert claims[claim] == holds


def test_with_reservations_only_conforming_requests_count_as_late(tmp_path: Path) -> None:
    """The longest of the conforming requests counts, not the longest of all."""
    stat = "8:0 conforming=9 met=8 missed=1 late_max_us=1500"
    found = fill([bandwidth.STUDY], tmp_path, lambda each, job: replace(result(), stat=stat))
    numbers = summary.numbers(bandwidth.STUDY, found)
    [case] = bandwidth.STUDY.cases
    assert words.fault(case, numbers, case.first.jobs[0], schedulers.HTBS) == (
        "app1 had 1 of 9 conforming requests late, taking up to 51.5 ms"
    )


@pytest.mark.parametrize(
    ("kbps", "fault"), [(40, ""), (30, "store got 30 of 40 KB/s offered")]
)
def test_a_promise_is_no_more_than_the_load(tmp_path: Path, kbps: int, fault: str) -> None:
    found = fill([journal.STUDY], tmp_path, lambda each, job: result(kbps * KIB))
    numbers = summary.numbers(journal.STUDY, found)
    assert words.fault(journal.CASE, numbers, journal.STORE, schedulers.BFQ) == fault


def test_a_random_load_is_what_the_best_scheduler_served(tmp_path: Path) -> None:
    def some(each: Run, job) -> JobResult:
        return result((70 if each.scheduler == schedulers.HTBS else 60) * KIB)

    numbers = summary.numbers(ncq_disk.STUDY, fill([ncq_disk.STUDY], tmp_path, some))
    assert words.asked(ncq_disk.CASE, numbers, ncq_disk.READER) == 70 * KIB
    assert words.fault(ncq_disk.CASE, numbers, ncq_disk.READER, schedulers.HTBS) == ""
    assert "60 of 70 KB/s offered" in words.fault(
        ncq_disk.CASE, numbers, ncq_disk.READER, schedulers.NONE
    )


def test_a_reservation_beyond_the_load_promises_a_latency(tmp_path: Path) -> None:
    found = fill([guarantee.flash.READ], tmp_path, lambda each, job: result(KIB))
    numbers = summary.numbers(guarantee.flash.READ, found)
    [case] = guarantee.flash.READ.cases
    assert words.keepers(case, numbers) == [each.title for each in case.first.schedulers]


@pytest.mark.parametrize(
    ("percent", "holds"),
    [
        # With 4, 8, 16, 32, 64 segments; seven readers need eight.
        ((900, 0, 1, 10, 30), [True, True]),
        ((900, 1, 1, 5, 10), [False, False]),
        ((900, 25, 26, 27, 28), [False, True]),
    ],
)
def test_gain_depends_on_segments_that_are_enough(
    tmp_path: Path, percent: tuple[int, ...], holds: list[bool]
) -> None:
    gains = dict(zip((f"readahead-{each}" for each in readahead.SEGMENTS), percent, strict=True))

    def some(each: Run, _) -> JobResult:
        more = gains[each.experiment.name] if each.scheduler == schedulers.HTBS_PAPER else 0
        return result(1000 * KIB * (100 + more) // 100)

    found = fill([readahead.STUDY], tmp_path, some)
    claims = readahead.claims(summary.numbers(readahead.STUDY, found))
    assert [claim.holds for claim in claims] == holds
    assert "+900%" not in claims[0].evidence


def test_segments_are_the_profiles() -> None:
    assert Disk(drives.PAPER.parameters["profile"]).profile.segments == drives.PAPER_SEGMENTS


@pytest.mark.parametrize(
    ("htbs", "holds"),
    [
        # Longest put, median put, rate of the store, the writer.
        ({"bw": 40 * KIB, "max_us": 20_000, "p50_us": 5_000}, [True, True, True, True]),
        ({"bw": 39 * KIB, "max_us": 20_001, "p50_us": 5_001}, [False] * 4),
    ],
)
def test_store_is_compared_with_the_best(tmp_path: Path, htbs: dict, holds: list[bool]) -> None:
    def some(each: Run, job) -> JobResult:
        found = result(40 * KIB if job.reservation else 50 * KIB)
        if each.scheduler != schedulers.HTBS:
            return found
        return replace(found, numbers=replace(found.numbers, **htbs))

    found = fill([journal.STUDY], tmp_path, some)
    claims = journal.claims(summary.numbers(journal.STUDY, found))
    assert [claim.holds for claim in claims] == holds
    assert "the best is BFQ;" in claims[0].evidence


def test_words_name_kept_and_broken_promises(tmp_path: Path) -> None:
    def some(each: Run, job) -> JobResult:
        if each.scheduler.name in {"bfq", "pclock"} and job.name == "app1":
            return result(100 * KIB, late=7)
        # A request that does not conform to a reservation may take longer.
        return result(1000 * KIB, late=3 if each.scheduler.name == "htbs" else 0)

    found = fill([bandwidth.STUDY], tmp_path, some)
    numbers = summary.numbers(bandwidth.STUDY, found)
    _, _, kept, broken, others, ranking = words.promises(bandwidth.STUDY, numbers).splitlines()
    assert "HTBS" in kept
    assert "BFQ," not in kept
    assert broken == "- Not under pClock: app1 got 100 of 200 KB/s."
    assert others == "- Nor under BFQ, as the table shows."
    [case] = bandwidth.STUDY.cases
    fault = "app1 got 100 of 200 KB/s and had 7 of 100 requests late, taking up to 20.0 ms"
    assert words.faults(case, numbers, schedulers.BFQ) == [fault]
    assert "2,000 KB/s" in ranking
    assert "BFQ: 55%" in ranking
