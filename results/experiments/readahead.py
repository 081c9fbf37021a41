"""The paper's 5.3 again, with different numbers of segments in the disk's buffer.

How much of the paper's gain of 25 % in 5.3 is due to the disk's buffer? A disk reads ahead after
each read, into a segment of its buffer. If it has more segments than sequential readers, it can
serve the readers in turn from the buffer and rarely seeks, so alternating between readers costs
little. The data sheet of the paper's disk gives a buffer of 8 MB, but not the number of segments.
Duration: 4 seconds.
"""

from results.experiments import drives, schedulers
from results.experiments.total import SEQUENTIAL, jobs
from results.lab import figure, table
from results.lab.experiment import Experiment
from results.lab.study import Case, Claim, Runs, Study

SEGMENTS = (4, 8, 16, 32, 64)
SECONDS = 4
PAPERS_GAIN = 0.25
# Of the gain; a smaller difference may be chance in runs of a few seconds.
DIFFERENCE = 0.1


def case(segments: int) -> Case:
    """Make a case of the seven sequential readers with this number of segments."""
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
    """Return the gain of the paper's rule over pClock by number of segments."""
    found = {segments: runs[f"readahead-{segments}"] for segments in SEGMENTS}
    return {
        segments: run["htbs-paper"]["total_bw"] / run["pclock"]["total_bw"] - 1
        for segments, run in found.items()
    }


def claims(runs: Runs) -> list[Claim]:
    """Say how much the gain depends on the buffer, if it has a segment for each reader."""
    found = {number: gain for number, gain in gains(runs).items() if number >= SEQUENTIAL}
    evidence = ", ".join(f"{gain:+.0%} with {number}" for number, gain in found.items())
    case, title = f"readahead-{SEGMENTS[-1]}", schedulers.HTBS_PAPER.title
    least, most = min(found.values()), max(found.values())
    return [
        Claim(
            case,
            f"the gain of {title} over pClock with {SEQUENTIAL} sequential readers differs by at"
            f" least {100 * DIFFERENCE:.0f} percentage points between numbers of segments that are"
            " enough for all readers",
            most - least >= DIFFERENCE,
            evidence,
            rule=True,
        ),
        Claim(
            case,
            f"with one of these numbers the gain is at least {PAPERS_GAIN:.0%}, as in the paper",
            most >= PAPERS_GAIN,
            evidence,
            rule=True,
        ),
    ]


def why(_: Study, runs: Runs) -> str:
    """Say what this means for the paper's 25 %."""
    found = gains(runs)
    near = min(found, key=lambda segments: abs(found[segments] - PAPERS_GAIN))
    return (
        f"The paper's gain of {PAPERS_GAIN:.0%} depends on the buffer of its disk as much as on the"
        f" algorithm. Of these numbers of segments, {near} comes nearest to it, with"
        f" {found[near]:+.0%}."
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
