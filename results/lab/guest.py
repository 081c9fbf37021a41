"""An experiment under one scheduler, as the script of a guest."""

from collections.abc import Mapping

from results.lab import postgres
from results.lab.experiment import Database, Experiment, Job, Scheduler

DISK = "sim0"
QUEUE = f"/sys/block/{DISK}/queue"
CGROUPS = "/sys/fs/cgroup"
STATE = f"/sys/kernel/debug/block/{DISK}/sched/state"

# The guest writes its progress so many times, in lines that begin like this.
TICKS = 30
TICK = "elapsed "

_NOT_OVERDUE = '[ ! -e overdue ] || fail "a request starves: $(cat overdue)"'

# Seconds after which the last job of a stage surely runs; a third of that is enough.
_BEGIN = 1


def script(experiment: Experiment, scheduler: Scheduler) -> str:
    """The script: it leaves fio's reports() and per job JOB.log, a line for every request.

    With htbs it also leaves the job's io.htbs.stat as JOB.stat, and what it was early in the run as
    JOB.early, if the experiment asks for that; of buffered jobs io.stat before and after as
    JOB.begin and JOB.end; of a database what postgres.end() says. It fails if a request was pending
    for longer than its bound.
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
    """Set the scheduler and what goes with it for the whole drive."""
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
    """Make a job's cgroup, with what is written to its files."""
    files = dict(scheduler.files(job))
    files |= {f"memory.{name}": value for name, value in job.memory.items()}
    puts = (_put(value, f"{CGROUPS}/{job.name}/{name}") for name, value in files.items())
    return [f"cg {job.name}", *puts]


def _stage(
    experiment: Experiment, scheduler: Scheduler, number: int, stage: list[Job]
) -> list[str]:
    """Start the jobs of a stage and wait for those of fio; the first also starts the ticker."""
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
    """Keep io.htbs.stat of each job early in the run."""
    if not experiment.early:
        return []
    keep = [f"cat {CGROUPS}/{job.name}/io.htbs.stat >{job.name}.early" for job in experiment.jobs]
    return [f"(sleep {experiment.early:g}; {'; '.join(keep)}) &"]


def late(experiment: Experiment, job: Job) -> float:
    """How much later than the first of its stage a job starts, seconds."""
    stage = [each.name for each in experiment.jobs if each.stage == job.stage]
    return experiment.apart * stage.index(job.name)


def reports(experiment: Experiment) -> list[str]:
    """The files of fio's reports."""
    stages = enumerate(_stages(experiment))
    return [f"{name}.json" for number, stage in stages for name in _processes(number, stage)]


def _stages(experiment: Experiment) -> list[list[Job]]:
    numbers = sorted({job.stage for job in experiment.jobs})
    return [[job for job in experiment.jobs if job.stage == number] for number in numbers]


def _processes(number: int, stage: list[Job]) -> dict[str, list[Job]]:
    """The jobs of a stage by the fio that starts them, each as a process in a cgroup of its own.

    One fio for all, as each first measures the CPU's clock, for half a second of the host's time;
    another for the jobs that are ahead.
    """
    names = {False: f"stage{number}", True: f"ahead{number}"}
    fios = [job for job in stage if not isinstance(job, Database)]
    parts = {name: [job for job in fios if job.ahead is key] for key, name in names.items()}
    return {name: jobs for name, jobs in parts.items() if jobs}


def _io_stat(experiment: Experiment, suffix: str) -> list[str]:
    """Keep io.stat of the jobs of which fio does not know what the drive did."""
    names = [job.name for job in experiment.jobs if job.buffered]
    return [f"cat {CGROUPS}/{name}/io.stat >{name}.{suffix}" for name in names]


def _load(module: str, parameters: Mapping[str, int | str]) -> str:
    return " ".join(["load", module, *(f"{name}={value}" for name, value in parameters.items())])


def _put(value: int | str, file: str) -> str:
    word = f'"{value}"' if " " in str(value) else value
    return f"expect_put OK {word} {file}"


# The most that fio accepts: a log that has to grow when its job ends loses entries.
_LOG_ENTRIES = 1 << 20

_OPTIONS = "--eta=never --output-format=json"

# The others' I/O priority. The kernel gives a task with a real-time priority of the CPU a real-time
# I/O class, too, beside which mq-deadline and BFQ dispatch none of the others' requests.
_PRIORITY = {"prioclass": 2, "prio": 4}


def _job_file(experiment: Experiment, jobs: list[Job]) -> list[str]:
    """The lines of fio's job file; all jobs end together."""
    # fio would take the file of all jobs beside that of a job.
    disk = {"filename": f"/dev/{DISK}"}
    alike = not any("filename" in job.options for job in jobs)
    common = (disk if alike else {}) | {
        "ioengine": "psync",
        "direct": 1,
        "time_based": 1,
        "randrepeat": 0,  # else the seed moves no block
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
    """Write the progress, and look for a request that is pending for longer than its bound.

    It takes little time, and none of the jobs' cgroups.
    """
    tick = f"echo {TICK}$i; i=$((i + 1))"
    if scheduler.reserves:
        tick += f"; ! grep '^oldest .*: overdue' {STATE} >overdue.new || mv overdue.new overdue"
    return f"(i=1; while sleep {seconds / TICKS:g}; do {tick}; done) & ticker=$!"


def _rest(experiment: Experiment, stage: list[Job]) -> list[str]:
    """Stop fio while its jobs run, which are processes of their own.

    It would poll a hundred times a second whether they are done, which takes longer to emulate than
    a disk's I/O. It starts the jobs, so it is stopped when the last one runs, and continued before
    they end. If fio has failed, kill fails, and so does the script.
    """
    begun = max(late(experiment, job) for job in stage) + _BEGIN
    rest = min(job.options.get("runtime", experiment.seconds) for job in stage) - begun
    if rest <= 0 or all(isinstance(job, Database) for job in stage):
        return []
    return [f"sleep {begun:g}", "kill -STOP $jobs", f"sleep {rest:g}", "kill -CONT $jobs"]
