"""An experiment under one scheduler, as the script of a guest."""

from results.lab.experiment import Experiment, Job, Scheduler

DISK = "sim0"
QUEUE = f"/sys/block/{DISK}/queue"
CGROUPS = "/sys/fs/cgroup"

# The guest says how far it is this often, and this is how the line begins.
TICKS = 30
TICK = "elapsed "


def script(experiment: Experiment, scheduler: Scheduler) -> str:
    """The script: it leaves fio.json, fio's report, and per job JOB.log, a line for every request.

    With htbs it leaves the jobs' io.htbs.stat as JOB.stat.
    """
    lines = [_load("simdisk", experiment.drive.parameters)]
    lines += ["load htbs"] if scheduler.reserves else []
    lines += [f"scheduler {DISK} {scheduler.elevator}", f"dev=$(cat /sys/block/{DISK}/dev)"]
    lines += [_put(value, f"{QUEUE}/iosched/{name}") for name, value in scheduler.tunables.items()]
    lines += [_put(value, f"{CGROUPS}/{name}") for name, value in scheduler.root.items()]
    for job in experiment.jobs:
        lines += [f"cg {job.name}"]
        lines += [
            _put(value, f"{CGROUPS}/{job.name}/{name}")
            for name, value in scheduler.files(job).items()
        ]
    lines += [_ticker(experiment.seconds), _fio(experiment), "kill $ticker"]
    lines += [f"mv {job.name}_lat.log {job.name}.log" for job in experiment.jobs]
    if scheduler.reserves:
        lines += [
            f"cat {CGROUPS}/{job.name}/io.htbs.stat >{job.name}.stat" for job in experiment.jobs
        ]
    return "\n".join(lines) + "\n"


def _load(module: str, parameters: dict[str, int | str]) -> str:
    return " ".join(["load", module, *(f"{name}={value}" for name, value in parameters.items())])


def _put(value: int | str, file: str) -> str:
    word = f'"{value}"' if " " in str(value) else value
    return f"expect_put OK {word} {file}"


def _fio(experiment: Experiment) -> str:
    """All jobs in one fio, whose start takes the emulated CPU long; each moves to its cgroup."""
    common = {
        "filename": f"/dev/{DISK}",
        "ioengine": "psync",
        "direct": 1,
        "time_based": 1,
        "randseed": experiment.seed,
        "clocksource": "clock_gettime",
        "disable_clat": 1,
        "disable_slat": 1,
        "per_job_logs": 0,
        "eta": "never",
        "output-format": "json",
        "output": "fio.json",
    }
    words = ["fio", *_options(common), *(_job(job, experiment.seconds) for job in experiment.jobs)]
    return " \\\n\t".join(words)


def _job(job: Job, seconds: int) -> str:
    options = {
        "name": job.name,
        "runtime": seconds,
        "rw": job.rw,
        "bs": job.block,
        "offset": job.offset,
        "size": job.size,
        "write_lat_log": job.name,
        "exec_prerun": f"'echo $PPID | tee {CGROUPS}/{job.name}/cgroup.procs'",
        **job.options,
    }
    return " ".join(_options(options))


def _options(options: dict[str, object]) -> list[str]:
    return [f"--{name}={value}" for name, value in options.items()]


def _ticker(seconds: int) -> str:
    """Say how much time has passed; a moment's work, outside the jobs' cgroups."""
    pause = seconds / TICKS
    return f"(i=1; while sleep {pause:g}; do echo {TICK}$i; i=$((i + 1)); done) & ticker=$!"
