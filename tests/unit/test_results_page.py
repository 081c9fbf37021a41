"""The pages and figures of the tree follow from the summaries of the tree."""

import json
import re
from pathlib import Path

import pytest

from results.bench import __main__ as bench
from results.bench import figure as bench_figure
from results.experiments import STUDIES, bandwidth, latency
from results.experiments.guarantee import boundary
from results.lab import __main__ as lab
from results.lab import figure, page, summary
from results.lab.experiment import KIB, Drive
from results.lab.study import Study
from tests.simdisk.model import Disk, Flash
from tests.unit.results import fill


@pytest.fixture(scope="module")
def found() -> summary.Summary:
    """Read the summary of the tree."""
    return summary.read(lab.RESULTS / "summary.json")


def test_page_follows_from_the_summary(found: summary.Summary) -> None:
    text = page.text(STUDIES, found, lab.bench())
    assert (lab.RESULTS / "README.md").read_text() == text, "make lab PAGE=1 writes it"


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_figure_follows_from_the_summary(study: Study, found: summary.Summary) -> None:
    assert summary.shows(found, study), f"make lab EXPERIMENT={study.name} runs what is missing"
    numbers, series = summary.numbers(study, found), summary.series(study, found)
    path = lab.RESULTS / "figures" / f"{study.name}.png"
    shown = figure.source(study, numbers, series)
    assert figure.shown_by(path) == shown, "make lab PAGE=1 draws it"


def test_figure_of_the_bench_follows_from_its_summary() -> None:
    numbers = json.loads((bench.DIRECTORY / "summary.json").read_text())
    path = bench.DIRECTORY / "cost.png"
    assert figure.shown_by(path) == bench_figure.source(numbers), "make bench draws it"


def media_rate(drive: Drive) -> float:
    """Return the maximum rate of a drive, bytes/s; of a disk on its outer tracks."""
    profile = drive.parameters["profile"]
    if profile == "tlc":
        its = Flash(precondition=False).profile
        return 1000 * min(its.channel_kbps, its.link_kbps)
    its = Disk(profile).profile
    return 512 * its.outer_spt * its.rpm / 60


def test_no_total_is_more_than_the_drive_moves(found: summary.Summary) -> None:
    for study in STUDIES:
        for case in study.cases:
            most = media_rate(case.first.drive)
            for name, runs in summary.numbers(study, found)[case.name].items():
                total = runs.get("total_bw_max", runs["total_bw"])
                assert total <= most, f"{case.name}, {name}: {total} of {most} bytes/s"


def test_total_of_stages_is_over_the_whole_time(tmp_path: Path) -> None:
    """Ten sets run one after the other, each for a tenth of the time."""
    found = fill([boundary.STUDY], tmp_path)
    runs = summary.numbers(boundary.STUDY, found)[boundary.CASE.name]
    jobs = boundary.CASE.first.jobs
    assert runs["none"]["total_bw"] == round(len(jobs) * 1000 * KIB / boundary.SETS)


def test_page_links_to_what_is_there(found: summary.Summary) -> None:
    text = page.text(STUDIES, found, lab.bench())
    anchors = {page.anchor(line.lstrip("# ")) for line in text.splitlines() if line[:2] == "##"}
    links = set(re.findall(r"\]\(([^)]*)\)", text))
    assert {link[1:] for link in links if link.startswith("#")} <= anchors
    files = {link.split("#")[0] for link in links if not link.startswith("#")}
    assert all((lab.RESULTS / file).exists() for file in files), files


def test_page_has_each_claim_with_its_verdict(found: summary.Summary) -> None:
    text = page.text(STUDIES, found, "")
    for study in (each for each in STUDIES if summary.shows(found, each)):
        for claim in study.claims(summary.numbers(study, found)):
            verdict = "holds" if claim.holds else "**does not hold**"
            assert f"\n- {verdict}: {claim.claim} ({claim.evidence})\n" in text


def test_all_claims_about_htbs_are_in_one_table(found: summary.Summary) -> None:
    """The table includes claims that do not hold, with their numbers."""
    text = page.text(STUDIES, found, "")
    section = text.split("## What HTBS is held to")[1].split("\n## ")[0]
    for study in STUDIES:
        for claim in study.claims(summary.numbers(study, found)):
            if "HTBS" in claim.claim:
                verdict = "holds" if claim.holds else "**does not hold**"
                shown = "" if claim.holds else claim.evidence
                assert f"| {claim.claim} | {verdict} | {shown} |" in section


def test_page_says_which_experiment_was_not_run(tmp_path: Path) -> None:
    found = fill([bandwidth.STUDY], tmp_path)
    text = page.text([bandwidth.STUDY, latency.STUDY], found, "")
    assert text.count("Not run yet.") == 1
    assert "figures/latency.png" not in text


def test_page_says_what_the_modules_were_made_of(tmp_path: Path) -> None:
    found = fill([bandwidth.STUDY, latency.STUDY], tmp_path)
    found |= summary.reduced(latency.STUDY, tmp_path, "0123456789ab")
    path = tmp_path / "summary.json"
    summary.write([bandwidth.STUDY, latency.STUDY], found, path)
    text = page.text([bandwidth.STUDY, latency.STUDY], summary.read(path), "")
    assert "\nRun with the scheduler and the drives of commit 0123456789ab: latency.\n" in text
    assert "\nRun with an older commit, which was not recorded: bandwidth.\n" in text


def test_numbers_of_other_experiments_stay(tmp_path: Path) -> None:
    """One experiment is repeated where the others have no raw data."""
    found = fill([bandwidth.STUDY, latency.STUDY], tmp_path / "other place")
    assert lab.listed([bandwidth.STUDY, latency.STUDY], tmp_path)[1:] == [
        "lab: bandwidth: raw data of 0 of 8 runs: make lab EXPERIMENT=bandwidth",
        "lab: latency: raw data of 0 of 2 runs: make lab EXPERIMENT=latency",
    ]
    again = found | fill([latency.STUDY], tmp_path)
    assert again["bandwidth"] == found["bandwidth"]
    assert summary.missing(bandwidth.STUDY, tmp_path)
    assert not summary.missing(latency.STUDY, tmp_path)
