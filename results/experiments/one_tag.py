"""The paper's 5.1 with a driver that has one tag and no budget.

SCSI disks have a budget: blk-mq takes a request from the scheduler only when the disk can accept
it. virtio-blk, NVMe and null_blk have none, so blk-mq takes the next request while all tags are in
use, and keeps it until a tag is free. The request is chosen too early, and goes ahead of all that
arrive meanwhile. With one tag this happens to each request. What does it cost?
"""

from dataclasses import replace

from results.experiments import bandwidth, drives, schedulers
from results.experiments.bandwidth import APP1, APP2
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import KIB, Experiment
from results.lab.study import Case, Claim, Runs, Study

_SECONDS = 60

# The scheduler can choose among as many requests as in 5.1; the default would be two.
_DRIVE = replace(
    drives.PAPER,
    parameters={**drives.PAPER.parameters, "tags": 1, "budget": 0},
    title="one tag, no budget",
    scheduled={"nr_requests": 64},
)


def _experiment(seed: int) -> Experiment:
    """Return 5.1 on the disk with the other driver."""
    return Experiment("one-tag", (APP1, APP2), schedulers.ALL, _DRIVE, _SECONDS, seed, apart=1)


def _with_budget(seed: int) -> Experiment:
    """Return 5.1 itself."""
    [case] = bandwidth.STUDY.cases
    whole = case.experiment(seed)
    return replace(whole, name="one-tag-budget", runs_of=whole.name)


CASE = Case(_DRIVE.title, _experiment)
BUDGET = Case("with a budget (5.1)", _with_budget)


def claims(runs: Runs) -> list[Claim]:
    """Say what HTBS keeps without a budget, and what it loses against a driver with one."""
    found = runs[CASE.name][ways.HTBS.name]
    own, other = (ways.total(runs, case, ways.HTBS) for case in (CASE, BUDGET))
    jobs = (APP1, APP2)
    late = {job.name: found[job.name]["late"] for job in jobs}
    return [
        Claim(
            CASE.name,
            f"{ways.HTBS.title} gives both applications their bandwidth",
            all(found[job.name]["bw"] >= job.reservation.bw for job in jobs),
            ", ".join(
                f"{job.name} got {found[job.name]['bw'] / KIB:,.0f} of"
                f" {job.reservation.bw / KIB:,.0f} KB/s"
                for job in jobs
            ),
        ),
        Claim(
            CASE.name,
            f"{ways.HTBS.title} completes no request late",
            not any(late.values()),
            ", ".join(f"{name}: {number} late" for name, number in late.items()),
        ),
        Claim(
            CASE.name,
            f"{ways.HTBS.title} moves at least 0.9 times as much as with a budget",
            own >= 0.9 * other,
            f"{own / other:.2f} times: {own / KIB:,.0f} KB/s, with a budget {other / KIB:,.0f}",
        ),
    ]


STUDY = Study(
    name="one-tag",
    title="5.1, one tag without budget",
    asked="""
Does 5.1 come out the same behind a driver with one tag and no budget? A SCSI disk has a budget:
blk-mq takes a request from the scheduler only when the disk can accept it. For drivers without one
(virtio-blk, NVMe), blk-mq takes the next request while all tags are in use, so the scheduler has to
choose it too early. The figure has [5.1](#51-bandwidth-of-two-applications) beside it, where the
disk has a budget. Duration: one minute; 5.1 takes five.
""",
    cases=(CASE, BUDGET),
    claims=claims,
    figure=figure.totals,
    table=lambda study, runs: table.per_job(replace(study, cases=(CASE,)), runs),
    words=lambda study, runs: words.promises(replace(study, cases=(CASE,)), runs),
)
