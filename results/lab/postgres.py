"""PostgreSQL with pgbench as a job of an experiment: its files in the guest, and its script."""

from pathlib import Path

from results.lab.experiment import Database, Experiment

VERSION = "15"
_BIN = Path("/usr/lib/postgresql") / VERSION / "bin"
_LIB = _BIN.parent / "lib"

# What volumes need, with or without a database.
MODULES = ("ext4", "crc32c_generic")
VOLUME_PROGRAMS = ("addpart", "mkfs.ext4")
PROGRAMS = tuple(str(_BIN / name) for name in ("initdb", "pgbench", "postgres", "psql"))
# For the database, its page cache, and a copy of what is written to the simulated drive.
MEMORY = "2G"

CGROUPS = "/sys/fs/cgroup"

_FUNCTIONS = Path(__file__).with_suffix(".sh")


def shared() -> tuple[Path, ...]:
    """Return the files besides the programs: those of initdb, and libraries that it loads."""
    libraries = ("dict_snowball.so", "plpgsql.so", "*_and_*.so")
    found = (path for name in libraries for path in sorted(_LIB.glob(name)))
    return (Path("/usr/share/postgresql") / VERSION, *found)


def server() -> Path:
    """Return the server program, for its version."""
    return _BIN / "postgres"


def prepare(experiment: Experiment) -> list[str]:
    """Return lines that make volumes and database, under the scheduler none."""
    if not experiment.volumes:
        return []
    lines = [f"PG_BIN={_BIN}", _FUNCTIONS.read_text().rstrip(), "scheduler sim0 none"]
    for number, each in enumerate(experiment.volumes, start=1):
        lines += [f"volume {number} {each.name} {each.offset} {each.size}"]
    if job := experiment.database:
        lines += [f"make_database {job.scale} {_settings(job)}"]
    return lines


def start(job: Database) -> list[str]:
    """Return lines that start the server in its cgroup."""
    procs = "cgroup.procs"
    return [
        f"echo $$ >{CGROUPS}/{job.name}/{procs}",
        f"server {_settings(job)}",
        f"echo $$ >{CGROUPS}/{procs}",
        "sql \"select pg_stat_reset_shared('wal')\" >/dev/null",
    ]


def run(job: Database, experiment: Experiment) -> list[str]:
    """Return lines that start pgbench, which is in no cgroup of a job."""
    volume = experiment.volumes[0]
    options = f"-n -M prepared -c {job.clients} -j 1 -T {experiment.seconds}"
    options += f" -l --log-prefix=transactions --random-seed={experiment.seed}"
    return [
        f"start_tracing {(volume.offset + volume.size) // 512}",
        f"pgbench -h /tmp -U postgres {options} postgres >{job.name}.txt 2>&1 & pgbench=$!",
    ]


def end(job: Database) -> list[str]:
    """Return lines that wait for pgbench and leave what reduced() reads."""
    columns = "wal_sync, wal_sync_time, wal_bytes, wal_fpi"
    return [
        f'wait $pgbench || fail "pgbench: $(cat {job.name}.txt)"',
        f"stop_tracing {job.name}.trace",
        "sound_volumes",
        f"mv transactions.* {job.name}.log",
        f'sql "select {columns} from pg_stat_wal" >{job.name}.wal',
    ]


def _settings(job: Database) -> str:
    return " ".join(f"{name}={value}" for name, value in job.settings.items())
