"""What slack is worth on a disk, from the runs of the paper's 5.1."""

from dataclasses import replace

from results.experiments import bandwidth
from results.experiments.guarantee import ways
from results.lab import figure, words
from results.lab.experiment import Experiment
from results.lab.study import Case, Claim, Runs, Study


def experiment(seed: int) -> Experiment:
    """Return the paper's 5.1 under another name."""
    [case] = bandwidth.STUDY.cases
    runs_of = case.experiment(seed)
    return replace(runs_of, name="slack-disk", runs_of=runs_of.name)


CASE = Case("the paper's disk", experiment)


def claims(runs: Runs) -> list[Claim]:
    """Claim that none is late, with 1.8 times the throughput of the paper's rule."""
    return [ways.none_late(CASE, runs), ways.moves(CASE, runs, 1.8, ways.PAPER)]


STUDY = Study(
    name="slack-disk",
    title="Slack on a disk",
    asked="""
What does HTBS gain by using the slack before deadlines? Under the paper's rule, `b_max` is a
trade-off between latency and throughput. Under HTBS, runs and waits last as long as the deadlines
of other groups allow. The runs, and so the table, are those of
[5.1](#51-bandwidth-of-two-applications).
""",
    cases=(CASE,),
    claims=claims,
    figure=figure.promises,
    table=words.rankings,
)
