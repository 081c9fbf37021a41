"""Fixed limits on a flash drive compared to those of HTBS: python -m tests.sim.frontier.

A reader with one request in flight runs beside deep readers, or beside a deep writer. The more
requests the others may have in flight, or the more they may write, the more the drive does, and the
longer the reader waits. Each fixed limit is a point of that frontier. HTBS finds its limit by
itself; it follows from how many requests may be late.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from tests.model.reservation import Params
from tests.sim.loads import FLASH_READ, FLASH_WRITE
from tests.sim.sim import MS, Client, Knobs, Run, run

SECONDS = 10  # the scheduler learns in the first tenth of a second
DRIVE = "tlc"
FREE = 1 << 40  # no limit
WINDOWS = (4, 8, 12, 16, 18, 20, 24, 32, 48, 64)
QUOTAS = (5, 10, 15, 20, 25, 30, 35, 40, 50)  # MB/s
LATE = (10, 100, 1000, 10_000)  # late_one_in, or late_one_in_writes
READER = Client(Params(64 << 20, 4096, MS))  # reserves more than it can submit
HEAD = ("limit", "part of the drive", "p99 ms", "p99.9 ms", "later than 1 ms")
ROW = "{:>16}{:>19}{:>9}{:>10}{:>17}"


class Point(NamedTuple):
    """A limit: the part of their unlimited throughput that others have; the reader's latency."""

    limit: str
    part: float
    p99: int
    p999: int
    late: float

    def __str__(self) -> str:
        return ROW.format(self.limit, f"{self.part:.2f}", f"{self.p99 / MS:.2f}",
                          f"{self.p999 / MS:.2f}", f"{self.late:.2%}")


class Frontier(NamedTuple):
    """A load, its limits, the scheduler's tunable, and whose bytes/s count: all, or the others'.

    tunable: by the values of LATE; the default is 1000, and 100 for writes.
    """

    title: str
    clients: list[Client]
    limits: dict[str, Knobs]
    tunable: dict[int, Knobs]
    all_count: bool

    def amount(self, outcome: Run) -> float:
        """Return the bytes/s of the clients that count."""
        return sum(outcome.rates()[0 if self.all_count else 1:])

    def free(self) -> float:
        """Return the amount without a limit."""
        return self.amount(run(self.clients, Knobs(t_wait=0, window=1024, quota=FREE), SECONDS, 1,
                               DRIVE))

    def point(self, limit: str, knobs: Knobs, free: float) -> Point:
        """Run a limit; free: the amount without a limit."""
        outcome = run(self.clients, knobs, SECONDS, 1, DRIVE)
        reader = outcome.clients[0]
        return Point(limit, self.amount(outcome) / free, reader.percentile(99),
                     reader.percentile(99.9), reader.late / max(1, reader.conforming))

    def points(self) -> Iterator[Point]:
        """Run each fixed limit, then the scheduler with each value of its tunable."""
        free = self.free()
        found = {f"late 1 in {each}": knobs for each, knobs in self.tunable.items()}
        for name, knobs in (self.limits | found).items():
            yield self.point(name, knobs, free)


FRONTIERS = {
    "reads": Frontier("beside four readers, 64 deep each", [READER, *FLASH_READ[1:]], {
        f"{each} reads": Knobs(t_wait=0, window=each) for each in WINDOWS}, {
        each: Knobs(t_wait=0, late=each) for each in LATE}, all_count=True),
    "writes": Frontier("beside a writer of 128 KiB, 64 deep", [READER, *FLASH_WRITE[1:]], {
        f"{each} MB/s": Knobs(t_wait=0, quota=each * 10**6) for each in QUOTAS}, {
        each: Knobs(t_wait=0, late_writes=each) for each in LATE}, all_count=False),
}


def draw(found: dict[str, list[Point]], path: Path) -> None:
    """Draw both frontiers: the reader's latency over the part of the drive's throughput."""
    figure = Figure((10, 4), layout="constrained")
    for axes, (name, points) in zip(figure.subplots(1, 2), found.items(), strict=True):
        fixed, htbs = points[:-len(LATE)], points[-len(LATE):]
        for label, colour in (("p99", "tab:blue"), ("p99.9", "tab:red")):
            field = "p99" if label == "p99" else "p999"
            axes.plot([each.part for each in fixed], [getattr(each, field) / MS for each in fixed],
                      "o-", color=colour, label=f"{label}, fixed limits", markersize=4)
            axes.plot([each.part for each in htbs], [getattr(each, field) / MS for each in htbs],
                      "*", color=colour, markersize=12, label=f"{label}, HTBS")
        for each, point in zip(LATE, htbs, strict=True):
            axes.annotate(f"1 in {each}", (point.part, point.p999 / MS), (-5, 5),
                          textcoords="offset points", ha="right", size=8,
                          rotation=-45, rotation_mode="anchor", va="bottom")
        highest = max(each.p999 for each in points) / MS
        axes.set(title=f"A reader {FRONTIERS[name].title}", ylabel="reader's latency, ms",
                 xlabel="done, as a part of what the drive does without limits",
                 ylim=(0, 1.2 * highest))
        axes.margins(x=0.12)
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print the points of each frontier, and draw them if `--figure` is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw the frontiers")
    args = parser.parse_args()
    found = {}
    for name, frontier in FRONTIERS.items():
        print(f"A reader {frontier.title}:", ROW.format(*HEAD), sep="\n")
        found[name] = []
        for point in frontier.points():
            print(point, flush=True)
            found[name].append(point)
    if args.figure:
        draw(found, args.figure)


if __name__ == "__main__":
    main()
