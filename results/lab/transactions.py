"""Reduce what pgbench, PostgreSQL and kernel tracing left to the numbers of a database.

Kernel tracing provides two numbers that PostgreSQL does not have: the time of each request from its
submission, whatever the scheduler did to it, and the time of each fdatasync of the WAL.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from results.lab.reduce import ReduceError, Request, percentile

_US_PER_MS = 1000
_NS_PER_US = 1000
_SECTOR = 512

# A line of the trace: "postgres-227 [000] ..... 15.528833: block_bio_queue: …".
_LINE = re.compile(r"\s*(?P<task>.+)-(?P<pid>\d+)\s+\[\d+\]\s+\S+\s+(?P<at>[\d.]+): (?P<what>.*)$")
_QUEUED = re.compile(r"block_bio_queue: \S+ (?P<op>\S+) (?P<sector>\d+) \+ (?P<nr>\d+) ")
_COMPLETED = re.compile(r"block_rq_complete: \S+ \S+ \(.*?\) (?P<sector>\d+) \+ (?P<nr>\d+) ")
_SYNC = re.compile(r"sys_fdatasync(?: -> 0x(?P<code>[0-9a-f]+)|\()")

# The thread of the journal works for the whole file system, so its I/O is the root cgroup's.
_JOURNAL = "jbd2/"


@dataclass(frozen=True)
class Trace:
    """The I/O of a database.

    requests: of its cgroup, as they completed; syncs_us: how long each fdatasync took; pause_us:
    the longest time in which no fdatasync completed.
    """

    requests: list[Request]
    syncs_us: list[int]
    pause_us: int = 0


@dataclass
class _Pending:
    """A bio that has been submitted: when, by which task, and how many sectors are left."""

    at_us: int
    task: str
    sector: int
    nr: int
    left: int


def parse_transactions(lines: Iterable[str]) -> list[int]:
    """Return the latency of each transaction in pgbench's log (client, number, us, …), us."""
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(int(line.split()[2]))
        except (IndexError, ValueError):
            raise ReduceError(
                f"line {number} of pgbench's log is no transaction: {line!r}"
            ) from None
    return found


def processed(report: str) -> int:
    """Return how many transactions pgbench did; raise ReduceError if any failed."""
    done = re.search(r"^number of transactions actually processed: (\d+)", report, re.MULTILINE)
    failed = re.search(r"^number of failed transactions: (\d+) ", report, re.MULTILINE)
    if not done or not failed or int(failed[1]):
        raise ReduceError(f"pgbench did not do what it was asked for: {report!r}")
    return int(done[1])


def parse_wal(text: str) -> tuple[int, float]:
    """Return the number of WAL syncs and their total time in ms, from pg_stat_wal."""
    try:
        syncs, took_ms, *_ = text.strip().split("|")
        return int(syncs), float(took_ms)
    except ValueError:
        raise ReduceError(f"no answer of pg_stat_wal: {text!r}") from None


def parse_trace(lines: Iterable[str]) -> Trace:
    """Return the database's requests and syncs, except those in flight at the end."""
    pending: list[_Pending] = []
    requests, syncs, begun = [], [], {}
    first_us, synced_us, pause_us = None, None, 0
    for line in lines:
        if not (match := _LINE.match(line)):
            continue
        at_us = round(float(match["at"]) * 1_000_000)
        if first_us is None:
            first_us = synced_us = at_us
        pause_us = max(pause_us, at_us - synced_us)
        if found := _QUEUED.match(match["what"]):
            sector, nr = int(found["sector"]), int(found["nr"])
            pending.append(_Pending(at_us, match["task"], sector, nr, nr))
        elif found := _COMPLETED.match(match["what"]):
            done = _complete(pending, int(found["sector"]), int(found["nr"]))
            requests += [_request(each, at_us, first_us) for each in done if _own(each)]
        elif found := _SYNC.match(match["what"]):
            if found["code"] is None:
                begun[match["pid"]] = at_us
            elif match["pid"] in begun:
                syncs.append(at_us - begun.pop(match["pid"]))
                synced_us = at_us
                if int(found["code"], 16):
                    raise ReduceError(f"a sync failed: {line!r}")
    return Trace(requests, syncs, pause_us)


def io_stat(text: str) -> int:
    """Return the bytes of an io.stat of a guest with one drive; zero before the first I/O."""
    return sum(int(each) for each in re.findall(r"\b[rw]bytes=(\d+)", text))


def kept(
    transactions_us: list[int], seconds: float, wal: tuple[int, float], trace: Trace
) -> dict[str, list]:
    """Return what the raw data of a run have of a database besides the numbers of a job; us."""
    syncs, took_ms = wal
    if not transactions_us or not syncs or not trace.syncs_us:
        raise ReduceError("the database did nothing")
    return {
        "seconds": [seconds],
        "wal": [syncs, took_ms],
        "tx_us": sorted(transactions_us),
        "sync_us": sorted(trace.syncs_us),
        "pause_us": [trace.pause_us],
    }


def numbers(runs: list[dict[str, list]]) -> dict[str, float]:
    """Return what the summary has of a database, from the kept() data of its runs.

    Percentiles are over the latencies of all runs, because a single run has too few syncs and
    transactions for a p99.9.
    """
    syncs = sum(run["wal"][0] for run in runs)
    took_ms = sum(run["wal"][1] for run in runs)
    transactions = sum(len(run["tx_us"]) for run in runs)
    return {
        "transactions": transactions,
        "tps": round(transactions / sum(run["seconds"][0] for run in runs), 2),
        **_latencies("tx", runs),
        "wal_syncs": syncs,
        "wal_sync_mean_us": round(took_ms * _US_PER_MS / syncs, 1),
        **_latencies("sync", runs),
        "sync_pause_us": max(run["pause_us"][0] for run in runs),
    }


def _latencies(name: str, runs: list[dict[str, list]]) -> dict[str, int]:
    """Return percentiles by name, us."""
    ordered = sorted(each for run in runs for each in run[f"{name}_us"])
    shares = {"p50": 50, "p99": 99, "p999": 99.9, "max": 100}
    return {f"{name}_{key}_us": percentile(ordered, share) for key, share in shares.items()}


def _complete(pending: list[_Pending], sector: int, nr: int) -> list[_Pending]:
    """Remove and return the bios whose last sector has completed.

    A request has several bios if they were merged; a bio has several requests if it was split.
    """
    done = []
    for each in pending:
        if each.sector < sector + nr and sector < each.sector + each.nr:
            each.left -= min(each.sector + each.nr, sector + nr) - max(each.sector, sector)
            if each.left <= 0:
                done.append(each)
    for each in done:
        pending.remove(each)
    return done


def _own(each: _Pending) -> bool:
    return not each.task.startswith(_JOURNAL)


def _request(each: _Pending, at_us: int, first_us: int) -> Request:
    at_ms = (at_us - first_us) // _US_PER_MS
    return Request(at_ms, (at_us - each.at_us) * _NS_PER_US, each.nr * _SECTOR)
