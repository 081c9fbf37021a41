"""Reduce fio's report and its log of every request to the numbers of an experiment."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, pstdev

NSEC_PER_USEC = 1000
NSEC_PER_MSEC = 1000000


class ReduceError(ValueError):
    """The log or the report of fio is not that of a complete run."""


@dataclass(frozen=True)
class Request:
    """A completed request: ms since the first job's start; latency in ns; size in bytes."""

    at_ms: int
    latency_ns: int
    size: int


@dataclass(frozen=True)
class Numbers:
    """The numbers of a job; bw in bytes/s; late: requests that took longer than reserved."""

    bw: int
    iops: float
    p50_us: float
    p99_us: float
    max_us: float
    late: int

    def as_dict(self) -> dict[str, int | float]:
        """Return the numbers for a summary."""
        return asdict(self)


def parse_log(lines: Iterable[str], late: float = 0) -> list[Request]:
    """Return the requests in a latency log of fio (ms, ns, direction, bytes, …) in order.

    late: seconds by which the job started later than the first one.
    """
    begin_ms = round(1000 * late)
    requests = []
    for number, line in enumerate(lines, start=1):
        try:
            at_ms, latency_ns, _, size = line.split(",")[:4]
            requests.append(Request(begin_ms + int(at_ms), int(latency_ns), int(size)))
        except ValueError:
            raise ReduceError(f"line {number} of the latency log is no request: {line!r}") from None
    return requests


def read_log(path: Path, late: float = 0) -> list[Request]:
    """Return parse_log() of a file."""
    with path.open() as file:
        return parse_log(file, late)


def percentile(ordered: list[int], percent: float) -> int:
    """Return the percentile of sorted values by nearest rank."""
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(int(rank), 1) - 1]


def numbers(requests: list[Request], seconds: float, latency_us: float) -> Numbers:
    """Reduce the requests of a job that ran for this time, with a reserved latency."""
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


def p999_us(requests: list[Request]) -> float:
    """Return the p99.9 of the latency, us."""
    return _us(percentile(sorted(request.latency_ns for request in requests), 99.9))


def lat_ns(requests: list[Request]) -> dict[str, int]:
    """Return the latencies in the form of a fio report."""
    every = [request.latency_ns for request in requests]
    found = {"min": min(every), "max": max(every), "mean": fmean(every), "stddev": pstdev(every)}
    return {key: round(value) for key, value in found.items()}


def check_whole(requests: list[Request], fio: dict) -> None:
    """Raise ReduceError unless the log has all requests of the report from fio_job()."""
    if abs(len(requests) - fio["total_ios"]) * 100 > fio["total_ios"]:
        raise ReduceError(f"the log has {len(requests)} of {fio['total_ios']} requests")


def fio_job(job: dict) -> dict:
    """Return the part of a job's fio report that is kept."""
    if job["error"]:
        raise ReduceError(f"fio's job {job['jobname']} failed with error {job['error']}")
    processes = int(job["job options"].get("numjobs", 1))
    side = max((job[each] for each in ("read", "write")), key=lambda each: each["total_ios"])
    return {
        **{key: side[key] for key in ("io_bytes", "total_ios")},
        # fio adds up the times of its processes, which run in parallel.
        "runtime_ms": job["job_runtime"] // processes,
        "lat_ns": {key: round(value) for key, value in side["lat_ns"].items() if key != "N"},
        **{key: round(job[key], 2) for key in ("usr_cpu", "sys_cpu")},
    }


def bandwidth(requests: list[Request], seconds: int, steps: int) -> list[tuple[float, float]]:
    """Return the bandwidth over time: the middle of each step, s, and the bytes/s in it."""
    totals = [0] * steps
    for request in requests:
        index = _step(request, seconds, steps)
        if index < steps:
            totals[index] += request.size
    step = seconds / steps
    return [((index + 0.5) * step, total / step) for index, total in enumerate(totals)]


def latency(
    requests: list[Request], seconds: int, steps: int
) -> list[tuple[float, float, float, float]]:
    """Return the latency over time: the middle of each step, s, and its min, median and max, ms.

    Steps without a completion are left out.
    """
    parts: list[list[int]] = [[] for _ in range(steps)]
    for request in requests:
        index = _step(request, seconds, steps)
        if index < steps:
            parts[index].append(request.latency_ns)
    series = []
    for index, part in enumerate(parts):
        if part:
            part.sort()
            middle = (index + 0.5) * seconds / steps
            values = (part[0], percentile(part, 50), part[-1])
            series.append((middle, *(round(value / NSEC_PER_MSEC, 3) for value in values)))
    return series


def _step(request: Request, seconds: int, steps: int) -> int:
    """Return the step in which a request completed; it may be past the last one."""
    return request.at_ms * steps // (seconds * 1000)


def _us(latency_ns: int) -> float:
    return latency_ns / NSEC_PER_USEC
