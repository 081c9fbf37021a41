"""The pages and figures of the tree follow from the summaries of the tree."""

import json
import re
from pathlib import Path

import pytest

from results.bench import __main__ as bench
from results.bench import figure as bench_figure
from results.experiments import STUDIES, bandwidth, latency
from results.lab import __main__ as lab
from results.lab import figure, page, summary
from results.lab.study import Study
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


def test_page_says_which_experiment_was_not_run(tmp_path: Path) -> None:
    found = fill([bandwidth.STUDY], tmp_path)
    text = page.text([bandwidth.STUDY, latency.STUDY], found, "")
    assert text.count("Not run yet.") == 1
    assert "figures/latency.png" not in text


def test_numbers_of_other_experiments_stay(tmp_path: Path) -> None:
    """One experiment is run again where no raw data of the others are there."""
    found = fill([bandwidth.STUDY, latency.STUDY], tmp_path / "other place")
    assert lab.listed([bandwidth.STUDY, latency.STUDY], tmp_path)[1:] == [
        "lab: bandwidth: raw data of 0 of 8 runs: make lab EXPERIMENT=bandwidth",
        "lab: latency: raw data of 0 of 2 runs: make lab EXPERIMENT=latency",
    ]
    again = found | fill([latency.STUDY], tmp_path)
    assert again["bandwidth"] == found["bandwidth"]
    assert summary.missing(bandwidth.STUDY, tmp_path)
    assert not summary.missing(latency.STUDY, tmp_path)
