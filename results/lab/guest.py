"""An experiment under one scheduler, as the script of a guest."""

from results.lab.experiment import Experiment, Job, Scheduler

DISK = "sim0"
QUEUE = f"/sys/block/{DISK}/queue"

# The guest says how far it is this often, and this is how the line begins.
TICKS = 30
TICK = "elapsed "


def script(experiment: Experiment, scheduler: Scheduler) -> str:
    """The script: it leaves JOB.json, fio's report, and JOB.log, a line for every request."""
    lines = [_load("simdisk", experiment.drive.parameters)]
    lines += ["load htbs"] if scheduler.reserves else []
    lines += [f"scheduler {DISK} {scheduler.elevator}"]
    lines += [
        f"expect_put OK {value} {QUEUE}/iosched/{name}"
        for name, value in scheduler.tunables.items()
    ]
    for job in experiment.jobs:
        lines += [f"cg {job.name}"]
        if scheduler.reserves:
            reservation = f'"$(cat /sys/block/{DISK}/dev) {job.reservation}"'
            lines += [f"expect_put OK {reservation} /sys/fs/cgroup/{job.name}/io.htbs"]
    lines += ["jobs="]
    for job in experiment.jobs:
        lines += [f'{_fio(experiment, job)} & jobs="$jobs $!"']
    lines += [_ticker(experiment.seconds)]
    lines += ["for job in $jobs; do wait $job; done", "kill $ticker", "rm -f *_clat.* *_slat.*"]
    lines += [f"mv {job.name}_lat.1.log {job.name}.log" for job in experiment.jobs]
    if scheduler.reserves:
        lines += [f"cat /sys/fs/cgroup/{job.name}/io.htbs.stat" for job in experiment.jobs]
    return "\n".join(lines) + "\n"


def _load(module: str, parameters: dict[str, int]) -> str:
    return " ".join(["load", module, *(f"{name}={value}" for name, value in parameters.items())])


def _fio(experiment: Experiment, job: Job) -> str:
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
        "runtime": experiment.seconds,
        "randseed": experiment.seed,
        "clocksource": "clock_gettime",
        "write_lat_log": job.name,
        "eta": "never",
        "output-format": "json",
        "output": f"{job.name}.json",
        **job.options,
    }
    words = " ".join(f"--{name}={value}" for name, value in options.items())
    return f"in_cg {job.name} fio {words}"


def _ticker(seconds: int) -> str:
    """Say how much time has passed; a moment's work, outside the jobs' cgroups."""
    pause = seconds / TICKS
    return f"(i=1; while sleep {pause:g}; do echo {TICK}$i; i=$((i + 1)); done) & ticker=$!"
