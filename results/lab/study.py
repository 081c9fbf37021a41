"""A study: a question, the experiments that are to answer it, and what they decide."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from results.lab.experiment import Experiment, Scheduler

# The numbers of a summary: by case, scheduler and job; with a "total_bw" beside the jobs.
Runs = Mapping[str, Mapping[str, Mapping[str, dict]]]

# What is drawn over time: by case, scheduler and job, of the first seed.
Series = Mapping[str, Mapping[str, Mapping[str, list]]]


@dataclass(frozen=True)
class Case:
    """One experiment of a study, repeated with different seeds.

    title: for people; experiment: by seed; seeds: of a scheduler, by default the first only.
    """

    title: str
    experiment: Callable[[int], Experiment]
    seeds: Callable[[Scheduler], tuple[int, ...]] = lambda _: (1,)

    @property
    def first(self) -> Experiment:
        """With the first seed."""
        return self.experiment(1)

    @property
    def name(self) -> str:
        """Of the experiment."""
        return self.first.name


@dataclass(frozen=True)
class Claim:
    """Something that is said to be so, and what the runs say.

    case: the experiment it is about; evidence: the numbers that decide it; paper: it is one of
    those that the paper is known for.
    """

    case: str
    claim: str
    holds: bool
    evidence: str
    paper: bool = False

    def as_dict(self) -> dict[str, str | bool]:
        """For a summary."""
        return {"claim": self.claim, "holds": self.holds, "evidence": self.evidence}


@dataclass(frozen=True)
class Study:
    """What was asked, how it is found out, and what came out.

    asked: Markdown, the paragraph on the page; claims: decided by the numbers; figure: draws them
    to a file; table: Markdown; words: Markdown, behind the claims: who won and who lost, and why;
    bars: the claims are what HTBS is held to.
    """

    name: str
    title: str
    asked: str
    cases: tuple[Case, ...]
    claims: Callable[[Runs], list[Claim]]
    figure: Callable[["Study", Runs, Series, Path], None]
    table: Callable[["Study", Runs], str]
    words: Callable[["Study", Runs], str] = lambda study, runs: ""
    bars: bool = False

    @property
    def schedulers(self) -> tuple[Scheduler, ...]:
        """All that run in any case."""
        every = [each for case in self.cases for each in case.first.schedulers]
        return tuple({each.name: each for each in every}.values())
