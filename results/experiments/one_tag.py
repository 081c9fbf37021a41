"""The paper's 5.1 with a driver that has one tag and no budget.

SCSI disks have a budget: blk-mq takes a request from the scheduler when the disk can have it.
virtio-blk, NVMe and null_blk have none. There blk-mq takes the next request while the driver has
another, and keeps it until that completes: chosen before its time, and ahead of all that comes
meanwhile. With one tag that is each request. What does it cost?
"""

from dataclasses import replace

from results.experiments import bandwidth, drives, schedulers
from results.experiments.bandwidth import APP1, APP2
from results.experiments.guarantee import ways
from results.lab import figure, table, words
from results.lab.experiment import KIB, Experiment
from results.lab.study import Case, Claim, Runs, Study

_SECONDS = 60

# As many requests for the scheduler to choose from as in 5.1, not two.
_DRIVE = replace(
    drives.PAPER,
    parameters={**drives.PAPER.parameters, "tags": 1, "budget": 0},
    title="one tag, no budget",
    scheduled={"nr_requests": 64},
)


def _experiment(seed: int) -> Experiment:
    """The jobs of 5.1, on the disk behind the other driver."""
    return Experiment("one-tag", (APP1, APP2), schedulers.ALL, _DRIVE, _SECONDS, seed, apart=1)


def _with_budget(seed: int) -> Experiment:
    """5.1 itself."""
    [case] = bandwidth.STUDY.cases
    whole = case.experiment(seed)
    return replace(whole, name="one-tag-budget", runs_of=whole.name)


CASE = Case(_DRIVE.title, _experiment)
BUDGET = Case("with a budget (5.1)", _with_budget)


def claims(runs: Runs) -> list[Claim]:
    """What HTBS keeps without a budget, and what it loses to a driver that has one."""
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
            ", ".join(f"{number} of {name} were late" for name, number in late.items()),
        ),
        Claim(
            CASE.name,
            f"{ways.HTBS.title} moves 0.9 times what it moves with a budget, or more",
            own >= 0.9 * other,
            f"{own / other:.2f} times: {own / KIB:,.0f} and {other / KIB:,.0f} KB/s",
        ),
    ]


STUDY = Study(
    name="one-tag",
    title="5.1, one tag without budget",
    asked="""
The applications of 5.1 on the same disk, with a driver that has one tag and no budget. A disk
behind SCSI has a budget: blk-mq takes a request from the scheduler when the disk can have it.
Drivers without one (virtio-blk, NVMe) leave it to blk-mq to take the next request while all tags
are in use, so it is chosen before its time. Beside it 5.1 as it is, the disk of which has a budget.
A minute; 5.1 takes five.
""",
    cases=(CASE, BUDGET),
    claims=claims,
    figure=figure.totals,
    table=table.per_job,
    words=lambda study, runs: words.promises(replace(study, cases=(CASE,)), runs),
)
