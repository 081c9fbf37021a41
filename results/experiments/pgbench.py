"""A database beside neighbours: pgbench on PostgreSQL, whose data do not fit in its memory.

A commit waits for the WAL to be on the disk, and a query for pages that are not in memory; the
server writes back what it changed meanwhile, in checkpoints. So a database reads and writes at
random and syncs, all in one cgroup. Beside it are the neighbours that an operator fears.
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

# What is written is read again: the drive has to keep it.
DRIVE = replace(drives.PAPER, parameters={**drives.PAPER.parameters, "backing": 1})

# Each on a file system of its own: the commit of a journal that others share waits for their data,
# which no scheduler can help.
VOLUMES = (Volume("database", MIB, 4 * GIB), Volume("writer", 30 * GIB, 4 * GIB))

# 15 MB of tables and indexes for each unit of the scale: 120 MB. A checkpoint each 30 s, the least
# that PostgreSQL takes, so that a run has some.
DATABASE = Database(
    "database",
    "pgbench",
    VOLUMES[0].offset,
    VOLUMES[0].size,
    # Four clients, so four pages of 8 KiB at once; some 50 seeks a second, of the 80 that it does.
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
# With memory.max alone all its memory comes to wait for the drive, and the kernel kills it.
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
    """The database first, a neighbour more each second."""
    return _beside_jobs("pgbench", NEIGHBOURS, seed)


def alone(seed: int) -> Experiment:
    """The database without neighbours: what its syncs take by themselves."""
    return _beside_jobs("pgbench-alone", (), seed)


def _beside_jobs(name: str, neighbours: tuple[Job, ...], seed: int) -> Experiment:
    jobs = (DATABASE, *neighbours)
    return Experiment(name, jobs, ways.ALL, DRIVE, _SECONDS, seed, apart=1, volumes=VOLUMES)


CASE = Case(drives.PAPER.title, experiment)
ALONE = Case(f"{drives.PAPER.title}, no neighbours", alone)


def got(runs: Runs) -> Claim:
    """The reservation's bandwidth, or all that the database asked for."""
    found = runs[CASE.name][ways.HTBS.name][DATABASE.name]
    reserved = DATABASE.reservation.bw
    evidence = f"{found['bw'] / KIB:,.0f} of {reserved / KIB:,.0f} KB/s"
    claim = f"{ways.HTBS.title}: the database gets what it reserved"
    return Claim(CASE.name, claim, found["bw"] >= ENOUGH * reserved, evidence)


def no_longer(runs: Runs, kind: str, what: str) -> Claim:
    """A tail of the database is no longer than with the best of the peers.

    The evidence has the number of each: one that stalls has few to be late with.
    """
    key = f"{kind}_p999_us"
    best = ways.best(CASE, runs, DATABASE, key)
    claim = f"{ways.HTBS.title}: {what} is no longer than with the best of {ways.named()}"
    numbers = _beside(runs, lambda job: f"{ms(job[key])} of {_many(job, kind):,.0f}")
    return Claim(
        CASE.name,
        claim,
        _own(runs, CASE, ways.HTBS)[key] <= _own(runs, CASE, best)[key],
        f"the best of these is {best.title}; {numbers}",
    )


def _many(job: dict, kind: str) -> float:
    """How many syncs or transactions a run had."""
    return job["wal_syncs"] if kind == "sync" else job["tps"] * _SECONDS


def most_transactions(runs: Runs) -> Claim:
    """As many transactions as with the best of the peers."""
    found = {each.name: _own(runs, CASE, each)["tps"] for each in ways.ALL}
    best = max(ways.PEERS, key=lambda each: found[each.name])
    numbers = _beside(runs, lambda job: f"{job['tps']:.1f}/s")
    return Claim(
        CASE.name,
        f"{ways.HTBS.title}: as many transactions as with the best of {ways.named()}, or more",
        found[ways.HTBS.name] >= found[best.name],
        f"the best of these is {best.title}; {numbers}",
    )


def _beside(runs: Runs, text) -> str:
    """What text() says of the database under each scheduler."""
    every = {each.title: text(runs[CASE.name][each.name][DATABASE.name]) for each in ways.ALL}
    return ways.beside(every)


def left(runs: Runs, jobs: tuple[Job, ...], part: str) -> Claim:
    """Neighbours get at least what BFQ leaves them."""
    return ways.moves(CASE, runs, 1, _BFQ, jobs=jobs, part=part)


[_BFQ] = (each for each in ways.PEERS if each.elevator == "bfq")


def claims(runs: Runs) -> list[Claim]:
    """The reservation, the database's tail, what the neighbours get, and transactions."""
    return [
        got(runs),
        ways.none_late(CASE, runs),
        no_longer(runs, "sync", "the p99.9 of the WAL's syncs"),
        no_longer(runs, "tx", "the p99.9 of transactions"),
        left(runs, NEIGHBOURS, "for the neighbours"),
        left(runs, (WRITER,), "for the writer"),
        left(runs, (BACKUP,), "for the backup"),
        left(runs, (RANDOM,), "for random writes"),
        most_transactions(runs),
    ]


_HEAD = (
    *("scheduler", "tps", "transaction p50 ms", "p99", "p99.9", "max"),
    *("syncs", "sync mean ms", "p99", "p99.9", "max"),
    *("reserved KB/s", "got KB/s", "longer than 100 ms", "conforming", "of these late"),
)


def shown(study: Study, runs: Runs) -> str:
    """Markdown: a line for each scheduler, beside the neighbours and without them."""
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
        f"{DATABASE.reservation.bw / KIB:,.0f}",
        f"{own['bw'] / KIB:,.0f}",
        f"{own['late']:,}",
        *(f"{own[key]:,}" if key in own else "-" for key in ("conforming", "missed")),
        *(f"{found[each.name]['bw'] / KIB:,.0f}" for each in neighbours),
    )


def words_of(study: Study, runs: Runs) -> str:
    """What the numbers do not say by themselves."""
    found = {each.name: _own(runs, CASE, each) for each in ways.ALL}
    own = found[ways.HTBS.name]
    fewest = min(ways.ALL, key=lambda each: found[each.name]["wal_syncs"])
    best = ways.best(CASE, runs, DATABASE, "sync_p999_us")
    tails = {each.title: ms(_own(runs, ALONE, each)["sync_p999_us"]) for each in ways.ALL}
    return f"""\
A conforming request is one that came when its group had asked for no more than it reserved. With
HTBS {own["conforming"]:,} of the database's requests conformed: it asks for more than its
{DATABASE.reservation.bw / KIB:,.0f} KB/s, gets {own["bw"] / KIB:,.0f}, and what is beyond the
reservation is surplus, for which no latency is promised. Commits, queries and checkpoints are one
cgroup, so they share one arrival curve: a sync that comes behind a checkpoint's pages is surplus,
too. A client waits for its transaction, so a scheduler that stalls the database has few syncs to be
late with: {fewest.title} has {found[fewest.name]["wal_syncs"]:,.0f}, HTBS
{own["wal_syncs"]:,.0f}. Without neighbours the p99.9 of the syncs is by itself, behind the
checkpoint's pages: {ways.beside(tails)}. So the shortest tail beside neighbours, that of
{best.title}, is no longer than what the best has with the disk alone, since no checkpoint's pages
are in its way: a transaction waits there for {found[best.name]["tx_max_us"] / 1e6:,.0f} s at most.

The neighbours have no reservation, so with HTBS they share the default one, each with a flow of
its own, and what is left of the device's time, in which a write counts three times. So the
buffered writer has {_part(runs, ways.HTBS, WRITER):.0%} of what the three get, and the backup most
of it. With BFQ, which gives each a queue, the writer has {_part(runs, _BFQ, WRITER):.0%}."""


def _own(runs: Runs, case: Case, way: Scheduler) -> dict:
    """What the database had."""
    return runs[case.name][way.name][DATABASE.name]


def _part(runs: Runs, way: Scheduler, job: Job) -> float:
    """A neighbour's part of what all neighbours get."""
    return ways.total(runs, CASE, way, (job,)) / ways.total(runs, CASE, way, NEIGHBOURS)


STUDY = Study(
    name="pgbench",
    title="A database beside neighbours",
    asked=f"""
PostgreSQL with {DATABASE.clients} clients of pgbench (TPC-B, prepared, scale {DATABASE.scale}: 120
MB) on ext4 on the paper's disk, in a cgroup with {DATABASE.memory["max"] // MIB} MB of memory; its
cache is cold. It has reserved {DATABASE.reservation.bw // KIB} KB/s with bursts of
{DATABASE.reservation.burst // KIB} KB, within {DATABASE.reservation.latency_us // 1000} ms. Three
neighbours have a cgroup each and no reservation: a writer whose writes are buffered, to a file on
another ext4; a backup that reads in sequence in blocks of 256 KB; and random writes of 4 KB, 8
outstanding at a time. The drive's write cache is off, so a sync waits for the medium. *syncs* are
those of the WAL: their number and mean are from pg_stat_wal, each one's time is from the kernel's
tracing; *longer than* counts the database's requests, from submission to completion. {_SECONDS}
seconds.
""",
    cases=(CASE, ALONE),
    claims=claims,
    figure=figure.database,
    table=shown,
    words=words_of,
)
