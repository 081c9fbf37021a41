"""From fio's report and its log of every request to the numbers of an experiment."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

NSEC_PER_USEC = 1000


class ReduceError(ValueError):
    """fio left something that is no log of a run."""


@dataclass(frozen=True)
class Request:
    """One completed request: when, ms after the job's start; latency in ns; size in bytes."""

    at_ms: int
    latency_ns: int
    size: int


@dataclass(frozen=True)
class Numbers:
    """What is told of a job: bw in bytes/s; late: completions after the reserved latency."""

    bw: int
    iops: float
    p50_us: float
    p99_us: float
    max_us: float
    late: int

    def as_dict(self) -> dict[str, int | float]:
        """For a summary."""
        return asdict(self)


def parse_log(lines: Iterable[str]) -> list[Request]:
    """The requests in a latency log of fio (ms, ns, direction, bytes, …), as they completed."""
    requests = []
    for number, line in enumerate(lines, start=1):
        try:
            at_ms, latency_ns, _, size = line.split(",")[:4]
            requests.append(Request(int(at_ms), int(latency_ns), int(size)))
        except ValueError:
            raise ReduceError(f"line {number} of the latency log is no request: {line!r}") from None
    return requests


def read_log(path: Path) -> list[Request]:
    """parse_log() of a file."""
    with path.open() as file:
        return parse_log(file)


def percentile(ordered: list[int], percent: float) -> int:
    """The smallest value that at least this share of the values does not exceed (nearest rank)."""
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(int(rank), 1) - 1]


def numbers(requests: list[Request], seconds: float, latency_us: int) -> Numbers:
    """Reduce the requests of one job that ran for some seconds, with a reserved latency."""
    if not requests:
        raise ReduceError("not a single request completed")
    ordered = sorted(request.latency_ns for request in requests)
    return Numbers(
        bw=round(sum(request.size for request in requests) / seconds),
        iops=round(len(requests) / seconds, 1),
        p50_us=_us(percentile(ordered, 50)),
        p99_us=_us(percentile(ordered, 99)),
        max_us=_us(ordered[-1]),
        late=sum(latency > latency_us * NSEC_PER_USEC for latency in ordered),
    )


def job_seconds(report: dict) -> float:
    """How long the job of a fio report ran, s."""
    return report["jobs"][0]["job_runtime"] / 1000


def bandwidth(requests: list[Request], seconds: int, step: int) -> list[tuple[float, float]]:
    """Bandwidth over time: the middle of each step, s, and the bytes/s completed in it."""
    edges = list(range(0, seconds + 1, step))
    totals = [0] * (len(edges) - 1)
    for request in requests:
        index = request.at_ms // (step * 1000)
        if index < len(totals):
            totals[index] += request.size
    return [
        ((begin + end) / 2, total / step)
        for (begin, end), total in zip(pairwise(edges), totals, strict=True)
    ]


def _us(latency_ns: int) -> float:
    return latency_ns / NSEC_PER_USEC
