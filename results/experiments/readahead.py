"""The paper's 5.3 again: what its 25 % have to do with the disk's buffer.

A disk reads on behind each read, into a segment of its buffer. With more segments than sequential
readers it serves them in turn from there and hardly moves its heads: to alternate between readers
costs little. The data sheet of the paper's disk says 8 MB, not in how many segments.
"""

from results.experiments import drives, schedulers
from results.experiments.total import SEQUENTIAL, jobs
from results.lab import figure, table
from results.lab.experiment import Experiment
from results.lab.study import Case, Claim, Runs, Study

SEGMENTS = (4, 8, 16, 32, 64)
SECONDS = 4
PAPERS_GAIN = 0.25


def case(segments: int) -> Case:
    """The seven sequential readers with so many segments."""
    drive = drives.paper_with_segments(segments)

    def experiment(seed: int) -> Experiment:
        return Experiment(
            f"readahead-{segments}",
            jobs(drive, 0, seed),
            (schedulers.PCLOCK, schedulers.HTBS_PAPER),
            drive,
            SECONDS,
            seed,
        )

    return Case(drive.title, experiment)


def gains(runs: Runs) -> dict[int, float]:
    """What the paper's rule moves more than pClock, by number of segments."""
    found = {segments: runs[f"readahead-{segments}"] for segments in SEGMENTS}
    return {
        segments: run["htbs-paper"]["total_bw"] / run["pclock"]["total_bw"] - 1
        for segments, run in found.items()
    }


def claims(runs: Runs) -> list[Claim]:
    """Where pClock is not punished for alternating."""
    found = gains(runs)
    return [
        Claim(
            f"readahead-{SEGMENTS[-1]}",
            f"what {schedulers.HTBS_PAPER.title} gains over pClock with {SEQUENTIAL} sequential"
            " readers depends on the number of segments",
            max(found.values()) > 2 * min(found.values()),
            ", ".join(f"{gain:+.0%} with {segments}" for segments, gain in found.items()),
            rule=True,
        )
    ]


def why(_: Study, runs: Runs) -> str:
    """What this says of the paper's 25 %."""
    found = gains(runs)
    near = min(found, key=lambda segments: abs(found[segments] - PAPERS_GAIN))
    return (
        f"The paper's {PAPERS_GAIN:.0%} are a property of its disk's buffer as much as of the"
        f" algorithm: of these numbers of segments, {near} comes nearest, with {found[near]:+.0%}."
    )


STUDY = Study(
    name="readahead",
    title="5.3 and the disk's buffer",
    asked=__doc__.split("\n\n", 1)[1],
    cases=tuple(case(segments) for segments in SEGMENTS),
    claims=claims,
    figure=figure.totals,
    table=table.totals,
    words=why,
)
