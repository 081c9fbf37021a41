"""Make the script of a guest from an experiment and a scheduler."""

from collections.abc import Mapping

from results.lab import postgres
from results.lab.experiment import Database, Experiment, Job, Scheduler

DISK = "sim0"
QUEUE = f"/sys/block/{DISK}/queue"
CGROUPS = "/sys/fs/cgroup"
STATE = f"/sys/kernel/debug/block/{DISK}/sched/state"

# How often the guest reports its progress, and how these lines begin.
TICKS = 30
TICK = "elapsed "

_NOT_OVERDUE = '[ ! -e overdue ] || fail "a request starves: $(cat overdue)"'

# Seconds after which the last job of a stage runs for sure; a third of that would be enough.
_BEGIN = 1


def script(experiment: Experiment, scheduler: Scheduler) -> str:
    """Return the script. It leaves fio's reports() and a JOB.log with a line for every request.

    Under htbs it also leaves io.htbs.stat of each job as JOB.stat, and as JOB.early early in the
    run if the experiment asks for that. For buffered jobs it leaves io.stat before and after the
    run as JOB.begin and JOB.end, for a database what postgres.end() describes. It fails if a
    request was pending for longer than its bound.
    """
    database = experiment.database
    lines = [_load("simdisk", experiment.drive.parameters)]
    lines += postgres.prepare(experiment)
    lines += _scheduler(experiment, scheduler)
    for job in experiment.jobs:
        lines += _cgroup(job, scheduler)
    lines += postgres.start(database) if database else []
    lines += _io_stat(experiment, "begin")
    for number, stage in enumerate(_stages(experiment)):
        lines += _stage(experiment, scheduler, number, stage)
    lines += postgres.end(database) if database else []
    lines += _io_stat(experiment, "end")
    lines += ["kill $ticker"]
    lines += [_NOT_OVERDUE] if scheduler.reserves else []
    for job in experiment.jobs:
        lines += [f"mv {job.name}_lat.log {job.name}.log"] if job != database else []
        if scheduler.reserves:
            lines += [f"cat {CGROUPS}/{job.name}/io.htbs.stat >{job.name}.stat"]
    return "\n".join(lines) + "\n"


def _scheduler(experiment: Experiment, scheduler: Scheduler) -> list[str]:
    """Set the scheduler, its tunables, and the settings of the queue and the root cgroup."""
    lines = [_load(scheduler.module, scheduler.parameters)] if scheduler.module else []
    lines += [f"scheduler {DISK} {scheduler.elevator}", f"dev=$(cat /sys/block/{DISK}/dev)"]
    queue = dict(experiment.drive.queue)
    queue |= experiment.drive.scheduled if scheduler.elevator != "none" else {}
    lines += [_put(value, f"{QUEUE}/{name}") for name, value in queue.items()]
    lines += [_put(value, f"{QUEUE}/iosched/{name}") for name, value in scheduler.tunables.items()]
    lines += [_put(value, f"{CGROUPS}/{name}") for name, value in scheduler.root.items()]
    if any(job.memory for job in experiment.jobs):
        lines += [_put("+memory", f"{CGROUPS}/cgroup.subtree_control")]
    return lines


def _cgroup(job: Job, scheduler: Scheduler) -> list[str]:
    """Make a job's cgroup and write its files."""
    files = dict(scheduler.files(job))
    files |= {f"memory.{name}": value for name, value in job.memory.items()}
    puts = (_put(value, f"{CGROUPS}/{job.name}/{name}") for name, value in files.items())
    return [f"cg {job.name}", *puts]


def _stage(
    experiment: Experiment, scheduler: Scheduler, number: int, stage: list[Job]
) -> list[str]:
    """Start the jobs of a stage and wait for fio; the first stage also starts the ticker."""
    lines = ["jobs="]
    for name, jobs in _processes(number, stage).items():
        first = "chrt --fifo 1 " if jobs[0].ahead else ""
        lines += [f"cat >{name}.fio <<'END'", *_job_file(experiment, jobs), "END"]
        lines += [f'{first}fio {_OPTIONS} --output={name}.json {name}.fio & jobs="$jobs $!"']
    if experiment.database in stage:
        lines += postgres.run(experiment.database, experiment)
    lines += [] if number else [_ticker(experiment.seconds, scheduler)]
    lines += [] if number or not scheduler.reserves else _early(experiment)
    lines += _rest(experiment, stage)
    return [*lines, "for job in $jobs; do wait $job; done"]


def _early(experiment: Experiment) -> list[str]:
    """Save io.htbs.stat of each job early in the run."""
    if not experiment.early:
        return []
    keep = [f"cat {CGROUPS}/{job.name}/io.htbs.stat >{job.name}.early" for job in experiment.jobs]
    return [f"(sleep {experiment.early:g}; {'; '.join(keep)}) &"]


def late(experiment: Experiment, job: Job) -> float:
    """Return how much later than the first job of its stage a job starts, seconds."""
    stage = [each.name for each in experiment.jobs if each.stage == job.stage]
    return experiment.apart * stage.index(job.name)


def reports(experiment: Experiment) -> list[str]:
    """Return the names of fio's reports."""
    stages = enumerate(_stages(experiment))
    return [f"{name}.json" for number, stage in stages for name in _processes(number, stage)]


def _stages(experiment: Experiment) -> list[list[Job]]:
    numbers = sorted({job.stage for job in experiment.jobs})
    return [[job for job in experiment.jobs if job.stage == number] for number in numbers]


def _processes(number: int, stage: list[Job]) -> dict[str, list[Job]]:
    """Return the jobs of a stage by the fio that starts them as processes in cgroups of their own.

    One fio starts all jobs, because each fio first measures the CPU's clock, which takes half a
    second of real time. A second fio starts the jobs that are ahead.
    """
    names = {False: f"stage{number}", True: f"ahead{number}"}
    fios = [job for job in stage if not isinstance(job, Database)]
    parts = {name: [job for job in fios if job.ahead is key] for key, name in names.items()}
    return {name: jobs for name, jobs in parts.items() if jobs}


def _io_stat(experiment: Experiment, suffix: str) -> list[str]:
    """Save io.stat of the buffered jobs, since fio does not know what the drive did for them."""
    names = [job.name for job in experiment.jobs if job.buffered]
    return [f"cat {CGROUPS}/{name}/io.stat >{name}.{suffix}" for name in names]


def _load(module: str, parameters: Mapping[str, int | str]) -> str:
    return " ".join(["load", module, *(f"{name}={value}" for name, value in parameters.items())])


def _put(value: int | str, file: str) -> str:
    word = f'"{value}"' if " " in str(value) else value
    return f"expect_put OK {word} {file}"


# The most that fio accepts. A log that has to grow when its job ends loses entries.
_LOG_ENTRIES = 1 << 20

_OPTIONS = "--eta=never --output-format=json"

# The default I/O priority. A task with a real-time CPU priority would get the real-time I/O class
# from the kernel, beside which mq-deadline and BFQ dispatch no requests of other tasks.
_PRIORITY = {"prioclass": 2, "prio": 4}


def _job_file(experiment: Experiment, jobs: list[Job]) -> list[str]:
    """Return the lines of fio's job file; all jobs end together."""
    # fio would use a file of all jobs in addition to that of a job.
    disk = {"filename": f"/dev/{DISK}"}
    alike = not any("filename" in job.options for job in jobs)
    common = (disk if alike else {}) | {
        "ioengine": "psync",
        "direct": 1,
        "time_based": 1,
        "randrepeat": 0,  # otherwise the seed has no effect
        "randseed": experiment.seed,
        "clocksource": "clock_gettime",
        "log_entries": _LOG_ENTRIES,
        "per_job_logs": 0,
        "disable_clat": 1,
        "disable_slat": 1,
        "new_group": 1,
    }
    lines = _section("global", common)
    for job in jobs:
        delay = round(1000 * late(experiment, job))
        runtime = round(1000 * experiment.seconds) - delay
        its = {"cgroup": job.name, "rw": job.rw, "bs": job.block}
        its |= {"offset": job.offset, "size": job.size}
        its |= _PRIORITY if job.ahead else {}
        its |= {} if alike else disk
        its |= {"startdelay": f"{delay}ms"} if delay else {}
        its |= {"runtime": f"{runtime}ms", "write_lat_log": job.name}
        lines += _section(job.name, its | job.options)
    return lines


def _section(name: str, options: Mapping[str, object]) -> list[str]:
    return [f"[{name}]", *(f"{key}={value}" for key, value in options.items())]


def _ticker(seconds: float, scheduler: Scheduler) -> str:
    """Report the progress, and look for a request that is pending for longer than its bound.

    The ticker takes little time, and is in none of the jobs' cgroups.
    """
    tick = f"echo {TICK}$i; i=$((i + 1))"
    if scheduler.reserves:
        tick += f"; ! grep '^oldest .*: overdue' {STATE} >overdue.new || mv overdue.new overdue"
    return f"(i=1; while sleep {seconds / TICKS:g}; do {tick}; done) & ticker=$!"


def _rest(experiment: Experiment, stage: list[Job]) -> list[str]:
    """Stop the main process of fio while its jobs run, which are processes of their own.

    fio would poll a hundred times per second whether the jobs are done, which takes longer to
    emulate than the I/O of a disk. It starts the jobs, so it is stopped when the last one runs, and
    continued before they end. If fio has failed, kill fails, and so does the script.
    """
    begun = max(late(experiment, job) for job in stage) + _BEGIN
    rest = min(job.options.get("runtime", experiment.seconds) for job in stage) - begun
    if rest <= 0 or all(isinstance(job, Database) for job in stage):
        return []
    return [f"sleep {begun:g}", "kill -STOP $jobs", f"sleep {rest:g}", "kill -CONT $jobs"]
