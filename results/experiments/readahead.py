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
# Of the gain: what is less may be chance, in runs of some seconds.
DIFFERENCE = 0.1


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
    """How much the gain depends on the buffer, where it has room for all readers."""
    found = {number: gain for number, gain in gains(runs).items() if number >= SEQUENTIAL}
    evidence = ", ".join(f"{gain:+.0%} with {number}" for number, gain in found.items())
    case, title = f"readahead-{SEGMENTS[-1]}", schedulers.HTBS_PAPER.title
    least, most = min(found.values()), max(found.values())
    return [
        Claim(
            case,
            f"what {title} gains over pClock with {SEQUENTIAL} sequential readers differs by"
            f" {100 * DIFFERENCE:.0f} points or more between numbers of segments that are enough"
            " for all of them",
            most - least >= DIFFERENCE,
            evidence,
            rule=True,
        ),
        Claim(
            case,
            f"with one of these numbers it is {PAPERS_GAIN:.0%} or more, as in the paper",
            most >= PAPERS_GAIN,
            evidence,
            rule=True,
        ),
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
