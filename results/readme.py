"""Print what README.md quotes of the results: `python -m results.readme`.

README.md is written by hand around these parts; a test compares them.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

DIRECTORY = Path(__file__).parent

_TITLES = {
    "htbs": "HTBS",
    "htbs-paper": "the paper's rule",
    "bfq": "bfq",
    "mq-deadline": "mq-deadline",
    "kyber": "kyber",
    "none": "none",
}
_DATABASE_HEAD = (
    "| scheduler | transactions/s | longest | WAL syncs: mean | longest | longest time without |"
    " requests over 100 ms | late of conforming |\n|---|---:|---:|---:|---:|---:|---:|---:|\n"
)


def parts() -> Iterator[str]:
    """Yield the parts of README.md that are made from the summaries."""
    lab = json.loads((DIRECTORY / "summary.json").read_text())
    bench = json.loads((DIRECTORY / "bench" / "summary.json").read_text())
    yield database(lab)
    yield from neighbours(lab)
    yield from unreserved(lab)
    yield from prices(bench)


def _job(lab: Mapping, experiment: str, way: str, job: str) -> dict:
    """Return the numbers of a job by name."""
    found = lab["experiments"][experiment][way]["jobs"][job]
    return dict(zip(lab["columns"], found, strict=True))


def database(lab: Mapping) -> str:
    """Return the table of pgbench."""
    rows = []
    for name, title in _TITLES.items():
        job = _job(lab, "pgbench", name, "database")
        more = lab["experiments"]["pgbench"][name]["more"]["database"]
        late = f"{job['missed']:,} of {job['conforming']:,}" if job["conforming"] else ""
        cells = [
            title,
            f"{more['tps']:.1f}",
            f"{more['tx_max_us'] / 1e6:.1f} s",
            f"{more['wal_sync_mean_us'] / 1e3:.0f} ms",
            f"{more['sync_max_us'] / 1e6:.1f} s",
            f"{more['sync_pause_us'] / 1e6:.1f} s",
            f"{job['late']:,} of {job['requests']:,}",
            late,
        ]
        rows.append("| " + " | ".join(cells).rstrip() + " |\n")
    return _DATABASE_HEAD + "".join(rows)


def neighbours(lab: Mapping) -> Iterator[str]:
    """Yield what the database and its neighbours get."""
    got, moved = {}, {}
    for way in ("htbs", "htbs-paper"):
        got[way] = f"{_job(lab, 'pgbench', way, 'database')['bw'] / 1024:,.0f}"
        others = (_job(lab, "pgbench", way, job)["bw"] for job in ("writer", "backup", "random"))
        moved[way] = f"{sum(others) / 1024 / 1000:.0f}"
    yield f"gets {got['htbs']} KB/s, so most of its requests do not conform."
    yield f"The paper's rule gives it {got['htbs-paper']} KB/s, but not in time;"
    yield f"move {moved['htbs-paper']} MB/s then, and {moved['htbs']} MB/s under HTBS."


def unreserved(lab: Mapping) -> Iterator[str]:
    """Yield what groups without a reservation get."""

    def kib(way: str, job: str) -> str:
        return f"{_job(lab, 'unreserved', way, job)['bw'] / 1024:,.0f}"

    def seconds(way: str, job: str) -> float:
        return _job(lab, "unreserved", way, job)["max_us"] / 1e6

    def median(way: str) -> float:
        return _job(lab, "unreserved", way, "writer")["p50_us"] / 1e6

    def longest(way: str) -> float:
        return max(seconds(way, "one"), seconds(way, "backup"))

    ours, bfq = ([kib(way, job) for job in ("one", "backup", "writer")] for way in ("htbs", "bfq"))
    yield f"gets {ours[0]} KB/s, a backup {ours[1]} and a random writer {ours[2]}, and no read"
    yield f"no read takes longer than {longest('htbs'):.1f} s."
    yield f"Under bfq they get {bfq[0]}, {bfq[1]} and {bfq[2]} KB/s, and a read takes up to"
    yield f"a read takes up to {longest('bfq'):.1f} s."
    writes = {way: f"{seconds(way, 'writer'):.1f} s" for way in ("htbs", "bfq")}
    yield f"A write takes {median('htbs'):.1f} s (median), {writes['htbs']} at most;"
    yield f"under bfq {median('bfq'):.1f} and {writes['bfq']}."


def prices(bench: Mapping) -> Iterator[str]:
    """Yield what the scheduler adds to an I/O, and the IOPS of two CPUs."""
    names = ("htbs", "mq-deadline", "kyber", "bfq")

    def added(case: str) -> list[str]:
        return [f"{bench['schedulers'][name]['added_ns'][case]:,.0f}" for name in names]

    deep, alone, many = (added(f"{case}") for case in _CASES)
    yield (
        f"HTBS adds {deep[0]} instructions to each I/O of a reader with 32 requests at a time"
        f" (mq-deadline {deep[1]}, kyber {deep[2]}, bfq {deep[3]}), {alone[0]} with one at a time"
        f" ({alone[1]}, {alone[2]}, {alone[3]}), and {many[0]} with 32 at a time of each of 100"
        f" readers in 10,000 cgroups ({many[1]}, {many[2]}, {many[3]})."
    )
    of_none = [f"{bench['schedulers'][name]['iops_2cpu_of_none']:.0%}" for name in names]
    yield (
        f"With a reader on each of two CPUs a disk does {of_none[0]} of what it does under none"
        f" (mq-deadline {of_none[1]}, kyber {of_none[2]}, bfq {of_none[3]})"
    )


_CASES = ("alone-randread-32-1", "alone-randread-1-1", "crowd-randread-32-10000")


if __name__ == "__main__":
    print(*parts(), sep="\n")
