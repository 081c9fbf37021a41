"""A database beside neighbours: pgbench on PostgreSQL with more data than memory.

A commit waits until the WAL is on the disk, and a query waits for pages that are not in memory.
Meanwhile the server writes back dirty pages in checkpoints. So one cgroup reads and writes at
random and syncs. The neighbours are those that operators fear.
"""

from dataclasses import replace

from results.experiments import drives
from results.experiments.guarantee import ways
from results.lab import figure, table
from results.lab.experiment import (
    GIB,
    KIB,
    Database,
    Experiment,
    Job,
    Reservation,
    Scheduler,
    Volume,
)
from results.lab.study import Case, Claim, Runs, Study
from results.lab.words import ENOUGH, ms

MIB = 1 << 20
_SECONDS = 60
_SEEDS = (1, 2, 3, 4, 5)

# The database reads again what it wrote, so the drive has to keep the data.
DRIVE = replace(drives.PAPER, parameters={**drives.PAPER.parameters, "backing": 1})

# Each has its own file system: the commit of a shared journal waits for the data of the others, and
# no scheduler can prevent that.
VOLUMES = (Volume("database", MIB, 4 * GIB), Volume("writer", 30 * GIB, 4 * GIB))

# 120 MB: 15 MB of tables and indexes per unit of the scale. A checkpoint every 30 s, the shortest
# interval that PostgreSQL accepts, so that a run has some.
DATABASE = Database(
    "database",
    "pgbench",
    VOLUMES[0].offset,
    VOLUMES[0].size,
    # Four clients read up to four pages of 8 KiB at once. 50 of the disk's 80 seeks per second.
    Reservation(400 * KIB, 32 * KIB, 100_000),
    8 * KIB,
    memory={"max": 64 * MIB},
    scale=8,
    clients=4,
    settings={
        "listen_addresses": "",
        "unix_socket_directories": "/tmp",
        "shared_buffers": "16MB",
        "max_connections": 20,
        "checkpoint_timeout": "30s",
        "track_wal_io_timing": "on",
        "jit": "off",
    },
)
# With memory.max alone all of its memory waits for writeback in the end, and the OOM killer ends
# it.
WRITER = Job(
    "writer",
    "write",
    0,
    256 * MIB,
    None,
    128 * KIB,
    {"filename": "/volumes/writer/file", "direct": 0, "fallocate": "none"},
    memory={"high": 96 * MIB, "max": 128 * MIB},
)
BACKUP = Job("backup", "read", 10 * GIB, 10 * GIB, None, 256 * KIB)
RANDOM = Job(
    "random",
    "randwrite",
    50 * GIB,
    10 * GIB,
    None,
    4 * KIB,
    {"ioengine": "libaio", "iodepth": 8, "norandommap": 1},
)
NEIGHBOURS = (WRITER, BACKUP, RANDOM)


def experiment(seed: int) -> Experiment:
    """Return the database; a neighbour starts every second after it."""
    return _beside_jobs("pgbench", NEIGHBOURS, seed)


def alone(seed: int) -> Experiment:
    """Return the database without neighbours, which shows how long its syncs take alone."""
    return _beside_jobs("pgbench-alone", (), seed)


def _beside_jobs(name: str, neighbours: tuple[Job, ...], seed: int) -> Experiment:
    jobs = (DATABASE, *neighbours)
    return Experiment(name, jobs, ways.ALL, DRIVE, _SECONDS, seed, apart=1, volumes=VOLUMES)


CASE = Case(drives.PAPER.title, experiment, seeds=lambda _: _SEEDS)
ALONE = Case(f"{drives.PAPER.title}, no neighbours", alone)


def got(runs: Runs) -> Claim:
    """Claim that the database gets its reserved bandwidth."""
    found = runs[CASE.name][ways.HTBS.name][DATABASE.name]
    reserved = DATABASE.reservation.bw
    evidence = f"{found['bw'] / KIB:,.0f} of {reserved / KIB:,.0f} KB/s"
    claim = f"{ways.HTBS.title} gives the database its bandwidth"
    return Claim(CASE.name, claim, found["bw"] >= ENOUGH * reserved, evidence)


def no_longer(runs: Runs, kind: str, what: str) -> Claim:
    """Claim that a tail of the database is no longer than under the best of the peers.

    The evidence has the number of syncs or transactions, since a stalled database has few of them.
    """
    key = f"{kind}_p999_us"
    best = ways.best(CASE, runs, DATABASE, key)
    claim = f"under {ways.HTBS.title} {what} is no longer than under the best of {ways.named()}"
    numbers = _beside(runs, lambda job: f"{ms(job[key])} ({_many(job, kind):,.0f})")
    return Claim(
        CASE.name,
        claim,
        _own(runs, CASE, ways.HTBS)[key] <= _own(runs, CASE, best)[key],
        f"the best is {best.title}; p99.9 and number: {numbers}",
    )


def _many(job: dict, kind: str) -> int:
    """Return how many syncs or transactions all runs had."""
    return job["wal_syncs"] if kind == "sync" else job["transactions"]


def shortest_pause(runs: Runs) -> Claim:
    """Claim that no time without a completed sync is longer than with the best of the peers.

    A stalled database has few syncs, so their percentiles do not show that it is stalled.
    """
    best = ways.best(CASE, runs, DATABASE, "sync_pause_us")
    numbers = _beside(runs, lambda job: f"{job['sync_pause_us'] / 1e6:,.1f} s")
    return Claim(
        CASE.name,
        f"{ways.HTBS.title}: the longest time without a completed sync is no longer than with the "
        f"best of {ways.named()}",
        _own(runs, CASE, ways.HTBS)["sync_pause_us"] <= _own(runs, CASE, best)["sync_pause_us"],
        f"the best of these is {best.title}; {numbers}",
    )


def most_transactions(runs: Runs) -> Claim:
    """Claim that there are as many transactions as under the best of the peers."""
    found = {each.name: _own(runs, CASE, each)["tps"] for each in ways.ALL}
    best = max(ways.PEERS, key=lambda each: found[each.name])
    numbers = _beside(runs, lambda job: f"{job['tps']:.1f}/s")
    return Claim(
        CASE.name,
        f"{ways.HTBS.title} does at least as many transactions as the best of {ways.named()}",
        found[ways.HTBS.name] >= found[best.name],
        f"the best is {best.title}; {numbers}",
    )


def _beside(runs: Runs, text) -> str:
    """Return text() of the database under each scheduler."""
    every = {each.title: text(runs[CASE.name][each.name][DATABASE.name]) for each in ways.ALL}
    return ways.beside(every)


def left(runs: Runs, jobs: tuple[Job, ...], part: str) -> Claim:
    """Claim that neighbours get at least what they get under BFQ."""
    return ways.moves(CASE, runs, 1, _BFQ, jobs=jobs, part=part)


[_BFQ] = (each for each in ways.PEERS if each.elevator == "bfq")


def claims(runs: Runs) -> list[Claim]:
    """Return the claims: the reservation, the tails, the neighbours, the transactions."""
    return [
        got(runs),
        ways.none_late(CASE, runs),
        no_longer(runs, "sync", "the p99.9 of the WAL's syncs"),
        shortest_pause(runs),
        no_longer(runs, "tx", "the p99.9 of transactions"),
        left(runs, NEIGHBOURS, "for the neighbours"),
        left(runs, (WRITER,), "for the writer"),
        left(runs, (BACKUP,), "for the backup"),
        left(runs, (RANDOM,), "for the random writes"),
        most_transactions(runs),
    ]


_HEAD = (
    *("scheduler", "tps", "transaction p50 ms", "p99", "p99.9", "max"),
    *("syncs", "sync mean ms", "p99", "p99.9", "max", "longest without one, s"),
    *("reserved KB/s", "got KB/s", "late (over 100 ms)", "conforming", "conforming, late"),
)


def shown(study: Study, runs: Runs) -> str:
    """Return tables with a line for each scheduler, with and without the neighbours."""
    return f"{_table(runs, CASE, NEIGHBOURS)}\n\nWithout neighbours:\n\n{_table(runs, ALONE, ())}"


def _table(runs: Runs, case: Case, neighbours: tuple[Job, ...]) -> str:
    head = (*_HEAD, *(f"{each.name} KB/s" for each in neighbours))
    rows = (_row(runs[case.name][each.name], each, neighbours) for each in ways.ALL)
    return table.markdown([head, *rows], 1)


def _row(found: dict, way: Scheduler, neighbours: tuple[Job, ...]) -> tuple[str, ...]:
    own = found[DATABASE.name]
    keys = ("p50", "p99", "p999", "max")
    return (
        way.title,
        f"{own['tps']:.1f}",
        *(f"{own[f'tx_{key}_us'] / 1000:,.0f}" for key in keys),
        f"{own['wal_syncs']:,.0f}",
        f"{own['wal_sync_mean_us'] / 1000:,.1f}",
        *(f"{own[f'sync_{key}_us'] / 1000:,.0f}" for key in keys[1:]),
        f"{own['sync_pause_us'] / 1e6:,.1f}",
        f"{DATABASE.reservation.bw / KIB:,.0f}",
        f"{own['bw'] / KIB:,.0f}",
        f"{own['late']:,}",
        *(f"{own[key]:,}" if key in own else "-" for key in ("conforming", "missed")),
        *(f"{found[each.name]['bw'] / KIB:,.0f}" for each in neighbours),
    )


def words_of(study: Study, runs: Runs) -> str:
    """Explain the numbers."""
    found = {each.name: _own(runs, CASE, each) for each in ways.ALL}
    own = found[ways.HTBS.name]
    fewest = min(ways.ALL, key=lambda each: found[each.name]["wal_syncs"])
    best = ways.best(CASE, runs, DATABASE, "sync_p999_us")
    shortest = min(_own(runs, ALONE, each)["sync_p999_us"] for each in ways.ALL)
    tails = {each.title: ms(_own(runs, ALONE, each)["sync_p999_us"]) for each in ways.ALL}
    return f"""\
Under HTBS only {own["conforming"]:,} of the database's requests conform, because the database
submits more than its {DATABASE.reservation.bw / KIB:,.0f} KB/s. It gets {own["bw"] / KIB:,.0f}
KB/s. What exceeds the reservation is surplus, without a guaranteed latency. Commits, queries and
checkpoints share the arrival curve of their cgroup, so a sync behind the pages of a checkpoint is
surplus, too.

A client waits for its transaction, so a stalled database has few syncs that could be slow:
{found[fewest.name]["wal_syncs"]:,.0f} under {fewest.title}, {own["wal_syncs"]:,.0f} under HTBS.
Without neighbours, the p99.9 of the syncs is due to the pages of the database's own checkpoints:
{ways.beside(tails)}. The shortest p99.9 beside neighbours, that of {best.title}, is
{ms(found[best.name]["sync_p999_us"])}; the shortest without neighbours is {ms(shortest)}. But the
database is stalled under {best.title}: no sync completes for up to
{found[best.name]["sync_pause_us"] / 1e6:,.0f} s of the {_SECONDS}, under HTBS for up to
{own["sync_pause_us"] / 1e6:,.1f} s; a transaction takes up to
{found[best.name]["tx_max_us"] / 1e6:,.0f} s, under HTBS up to {own["tx_max_us"] / 1e6:,.1f} s.

The neighbours share the default reservation and the rest of the device's time, in which a write
counts three times. So under HTBS the buffered writer gets {_part(runs, ways.HTBS, WRITER):.0%} of
what the three neighbours move, and the backup most of it. Under BFQ, which has a queue for each,
the writer gets {_part(runs, _BFQ, WRITER):.0%}."""


def _own(runs: Runs, case: Case, way: Scheduler) -> dict:
    """Return the numbers of the database."""
    return runs[case.name][way.name][DATABASE.name]


def _part(runs: Runs, way: Scheduler, job: Job) -> float:
    """Return a neighbour's part of what all neighbours get."""
    return ways.total(runs, CASE, way, (job,)) / ways.total(runs, CASE, way, NEIGHBOURS)


STUDY = Study(
    name="pgbench",
    title="A database beside neighbours",
    asked=f"""
How does a database do beside neighbours? PostgreSQL with {DATABASE.clients} clients of pgbench
(TPC-B, prepared, scale {DATABASE.scale}: 120 MB) runs on ext4 on the paper's disk, in a cgroup with
{DATABASE.memory["max"] // MIB} MB of memory and a cold cache. It has reserved
{DATABASE.reservation.bw // KIB} KB/s with bursts of {DATABASE.reservation.burst // KIB} KB, within
{DATABASE.reservation.latency_us // 1000} ms. Three neighbours without a reservation have a cgroup
each: a buffered writer to a file on another ext4; a backup that reads sequentially in blocks of 256
KB; and random writes of 4 KB with 8 in flight. Beside the neighbours, each
scheduler has {len(_SEEDS)} runs of {_SECONDS} seconds with different seeds. Counts are sums over
these runs, percentiles are over the latencies of all of them, and rates are means.

The write cache of the drive is off, so a sync waits for the medium. *syncs* are those of the WAL:
their number and mean are from pg_stat_wal, their percentiles from kernel tracing. *late* counts the
requests of the database, from submission to completion.
""",
    cases=(CASE, ALONE),
    claims=claims,
    figure=figure.database,
    table=shown,
    words=words_of,
)
