"""The demo's pair for five minutes: what slack is worth on a disk.

The runs are those of the paper's 5.1.
"""

from dataclasses import replace

from results.experiments import bandwidth
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import Experiment
from results.lab.study import Case, Claim, Runs, Study


def experiment(seed: int) -> Experiment:
    """The paper's 5.1 by another name."""
    [case] = bandwidth.STUDY.cases
    runs_of = case.experiment(seed)
    return replace(runs_of, name="slack-disk", runs_of=runs_of.name)


CASE = Case("the paper's disk", experiment)


def claims(runs: Runs) -> list[Claim]:
    """Late 0, 1.8 times the throughput."""
    return [ways.none_late(CASE, runs), ways.moves(CASE, runs, 1.8, ways.PAPER)]


STUDY = Study(
    name="slack-disk",
    title="Slack on a disk",
    asked="""
The pair of 5.1 once more, and the same runs. With the paper's rule, b_max trades latency for
throughput. With HTBS runs and waits last as long as the others' deadlines
allow.
""",
    cases=(CASE,),
    claims=claims,
    figure=figure.promises,
    table=table.per_job,
    words=words.promises,
)
