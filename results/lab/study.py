"""A study: a question, the experiments that answer it, and the claims that they decide."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from matplotlib.figure import Figure

from results.lab.experiment import Experiment, Scheduler

# The numbers of a study by case, scheduler and job, with a "total_bw" beside the jobs.
Runs = Mapping[str, Mapping[str, Mapping[str, dict]]]

# What a study draws over time, by case, scheduler and job, of the first seed.
Series = Mapping[str, Mapping[str, Mapping[str, list]]]


@dataclass(frozen=True)
class Case:
    """One experiment of a study, repeated with different seeds.

    title: on the page; experiment: by seed; seeds: of a scheduler, by default only the first;
    called: its name, if another case has the same experiment with other seeds.
    """

    title: str
    experiment: Callable[[int], Experiment]
    seeds: Callable[[Scheduler], tuple[int, ...]] = lambda _: (1,)
    called: str = ""

    @property
    def first(self) -> Experiment:
        """Return the experiment with the first seed."""
        return self.experiment(1)

    @property
    def name(self) -> str:
        """Return the name of the case in a study, by default that of the experiment."""
        return self.called or self.first.name

    @property
    def kept_as(self) -> str:
        """Return the name of its numbers in the summary."""
        return self.called or self.first.run_as


@dataclass(frozen=True)
class Claim:
    """A statement, whether it holds, and the numbers that decide it.

    case: the experiment that it is about; evidence: the numbers; paper: it is one of the main
    claims of the paper; rule: it is about the paper's rule, not about HTBS.
    """

    case: str
    claim: str
    holds: bool
    evidence: str
    paper: bool = False
    rule: bool = False


@dataclass(frozen=True)
class Study:
    """A question, the experiments that answer it, and how the answer is shown.

    asked: the question in Markdown; claims: decided by the numbers; figure: draws the numbers;
    table: Markdown; words: Markdown behind the table, which explains the numbers.
    """

    name: str
    title: str
    asked: str
    cases: tuple[Case, ...]
    claims: Callable[[Runs], list[Claim]]
    figure: Callable[["Study", Runs, Series], Figure]
    table: Callable[["Study", Runs], str]
    words: Callable[["Study", Runs], str] = lambda study, runs: ""

    @property
    def schedulers(self) -> tuple[Scheduler, ...]:
        """Return all schedulers of all cases."""
        every = [each for case in self.cases for each in case.first.schedulers]
        return tuple({each.name: each for each in every}.values())
