"""An experiment under one scheduler, as the script of a guest."""

from collections.abc import Mapping

from results.lab.experiment import Experiment, Job, Scheduler

DISK = "sim0"
QUEUE = f"/sys/block/{DISK}/queue"
CGROUPS = "/sys/fs/cgroup"

# The guest says how far it is this often, and this is how the line begins.
TICKS = 30
TICK = "elapsed "


def script(experiment: Experiment, scheduler: Scheduler) -> str:
    """The script: per job it leaves JOB.json, fio's report, and JOB.log, a line for every request.

    With htbs it also leaves the job's io.htbs.stat as JOB.stat.
    """
    lines = [_load("simdisk", experiment.drive.parameters)]
    lines += ["load htbs"] if scheduler.reserves else []
    lines += [f"scheduler {DISK} {scheduler.elevator}", f"dev=$(cat /sys/block/{DISK}/dev)"]
    queue = dict(experiment.drive.queue)
    queue |= experiment.drive.scheduled if scheduler.elevator != "none" else {}
    lines += [_put(value, f"{QUEUE}/{name}") for name, value in queue.items()]
    lines += [_put(value, f"{QUEUE}/iosched/{name}") for name, value in scheduler.tunables.items()]
    lines += [_put(value, f"{CGROUPS}/{name}") for name, value in scheduler.root.items()]
    for job in experiment.jobs:
        lines += [f"cg {job.name}"]
        files = scheduler.files(job)
        lines += [_put(value, f"{CGROUPS}/{job.name}/{name}") for name, value in files.items()]
    for number, stage in enumerate(_stages(experiment)):
        lines += ["jobs="]
        for job in stage:
            pause = [f"sleep {experiment.apart:g}"] if late(experiment, job) else []
            lines += [*pause, f'{_fio(experiment, job)} & jobs="$jobs $!"']
        lines += [] if number else [_ticker(experiment.seconds)]
        lines += ["for job in $jobs; do wait $job; done"]
    lines += ["kill $ticker"]
    for job in experiment.jobs:
        lines += [f"mv {job.name}_lat.log {job.name}.log"]
        if scheduler.reserves:
            lines += [f"cat {CGROUPS}/{job.name}/io.htbs.stat >{job.name}.stat"]
    return "\n".join(lines) + "\n"


def late(experiment: Experiment, job: Job) -> float:
    """How much later than the first of its stage a job starts, seconds."""
    stage = [each.name for each in experiment.jobs if each.stage == job.stage]
    return experiment.apart * stage.index(job.name)


def _stages(experiment: Experiment) -> list[list[Job]]:
    numbers = sorted({job.stage for job in experiment.jobs})
    return [[job for job in experiment.jobs if job.stage == number] for number in numbers]


def _load(module: str, parameters: Mapping[str, int | str]) -> str:
    return " ".join(["load", module, *(f"{name}={value}" for name, value in parameters.items())])


def _put(value: int | str, file: str) -> str:
    word = f'"{value}"' if " " in str(value) else value
    return f"expect_put OK {word} {file}"


# As many as fio can; a log that has to grow as its job ends loses what is new.
_LOG_ENTRIES = 1 << 20


def _fio(experiment: Experiment, job: Job) -> str:
    """The command of a job, which ends with the others."""
    options = {
        "name": job.name,
        "filename": f"/dev/{DISK}",
        "rw": job.rw,
        "bs": job.block,
        "offset": job.offset,
        "size": job.size,
        "ioengine": "psync",
        "direct": 1,
        "time_based": 1,
        "runtime": f"{round(1000 * (experiment.seconds - late(experiment, job)))}ms",
        "randseed": experiment.seed,
        "clocksource": "clock_gettime",
        "write_lat_log": job.name,
        "log_entries": _LOG_ENTRIES,
        "per_job_logs": 0,
        "disable_clat": 1,
        "disable_slat": 1,
        "eta": "never",
        "output-format": "json",
        "output": f"{job.name}.json",
        **job.options,
    }
    words = " ".join(f"--{name}={value}" for name, value in options.items())
    return f"in_cg {job.name} {'chrt --fifo 1 ' if job.ahead else ''}fio {words}"


def _ticker(seconds: int) -> str:
    """Say how much time has passed; a moment's work, outside the jobs' cgroups."""
    pause = seconds / TICKS
    return f"(i=1; while sleep {pause:g}; do echo {TICK}$i; i=$((i + 1)); done) & ticker=$!"
