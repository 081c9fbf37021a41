"""The eight workloads of the census, each a short run of an experiment of the laboratory."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from results.census import promises
from results.experiments import bandwidth, flash, neighbour, schedulers, total
from results.experiments.guarantee import flash as deep
from results.experiments.guarantee import mixed_disk, ncq_disk
from results.lab import experiment
from results.lab.experiment import KIB, Experiment, Job, Reservation, Scheduler
from tests.sim.drives import Disk, Flash, draw, draw_flash, host

WAYS = (
    schedulers.HTBS,
    schedulers.HTBS_PAPER,
    schedulers.BFQ,
    schedulers.MQ_DEADLINE,
    schedulers.NONE,
)

# A reader with one request in flight can have this on the lab's drive beside others: a sixth of
# what it reads alone (tests/sim/census.py).
_READER = Reservation(8 << 20, 4 * KIB, 1_000)

# HTBS learns the drive in the first seconds. Late requests after them are counted separately.
EARLY = 2

# In two seconds a writer fills little more than the buffer of some drives. A scheduler that lets it
# do so seems to move more than the drive can program.
_FILLS = 6


@dataclass(frozen=True)
class Workload:
    """The jobs as a function of the drive, None if it does not suit; the seconds by kind of drive.

    apart: on disks, seconds from one job's start to the next. BFQ raises the weight of a process
    that has just started for some seconds, and may merge the queues of processes that start
    together, so a short run would not be typical of it.
    """

    name: str
    title: str
    jobs: Callable[[Disk | Flash, int], tuple[Job, ...] | None]
    disk_seconds: float = 0
    flash_seconds: float = 0
    apart: float = 0


def _size(drive: Disk | Flash) -> int:
    """Return the size of the drive as its module rounds it, bytes."""
    return drive.size // 4096 * 4096


def lab_drive(drive: Disk | Flash) -> experiment.Drive:
    """Return the lab's drive: the numbers of the model's profile, and what is in front of it."""
    profile, before = drive.profile(), host(drive)
    numbers = {name: getattr(profile, name) for name, *_ in profile._fields_}
    numbers["profile"] = "hd080hj" if isinstance(drive, Disk) else "tlc"
    if before.write_cache:
        numbers["write_cache"] = 1
    if before.tags:
        numbers |= {"tags": before.tags, "budget": 0, "jitter_ns": before.jitter_ns}
        numbers |= {"tail_ns": before.tail_ns, "tail_one_in": before.tail_one_in}
    return experiment.Drive(numbers, str(drive), _size(drive))


def _pair(drive: Disk | Flash, seed: int) -> tuple[Job, ...]:
    if isinstance(drive, Disk):
        return bandwidth.APP1, bandwidth.APP2
    return flash.APP1, flash.APP2


def _total(randoms: int) -> Callable[[Disk | Flash, int], tuple[Job, ...] | None]:
    """Return the readers of 5.3, with the reservations that its disk can keep."""

    def jobs(drive: Disk | Flash, seed: int) -> tuple[Job, ...] | None:
        if isinstance(drive, Flash):
            return None
        every = total.jobs(lab_drive(drive), randoms, seed)
        return tuple(_mixed(job) for job in every)

    return jobs


def _mixed(job: Job) -> Job:
    promise = mixed_disk.PROMISES[job.rw]
    limited = {"rate": promise.bw} if "rate" in job.options else {}
    return replace(job, reservation=promise, options={**job.options, **limited})


def _ncq(drive: Disk | Flash, seed: int) -> tuple[Job, ...] | None:
    """Return the jobs of ncq-disk, for disks that reorder."""
    if isinstance(drive, Flash) or drive.depth == 1:
        return None
    return ncq_disk.READER, *ncq_disk.GREEDY


def _flash_reader() -> Job:
    return replace(deep.reader(1_000), reservation=_READER)


def _flash_read(drive: Disk | Flash, seed: int) -> tuple[Job, ...] | None:
    return (_flash_reader(), *deep.READERS) if isinstance(drive, Flash) else None


def _flash_write(drive: Disk | Flash, seed: int) -> tuple[Job, ...] | None:
    return (_flash_reader(), deep.WRITER) if isinstance(drive, Flash) else None


def _neighbour(drive: Disk | Flash, seed: int) -> tuple[Job, ...]:
    steady = (neighbour.steady(job) for job in _pair(drive, seed))
    return (*steady, neighbour.flood(lab_drive(drive)))


WORKLOADS = (
    Workload("5.1", "5.1: a random and a sequential reader", _pair, 20, 0.5, apart=1),
    Workload("5.3-0", "5.3: seven sequential readers", _total(0), 8),
    Workload("5.3-2", "5.3: seven sequential and two random readers", _total(2), 8),
    Workload("5.3-4", "5.3: seven sequential and four random readers", _total(4), 8),
    Workload("ncq", "A reader beside a writer and a stream, on disks that reorder", _ncq, 8),
    Workload("flash-read", "A reader beside deep readers, on flash", _flash_read, 0, 1),
    Workload("flash-write", "A reader beside a deep writer, on flash", _flash_write, 0, _FILLS),
    Workload("neighbour", "5.1 beside a neighbour that floods the drive", _neighbour, 8, 4),
)


def draw_drives(seed: int, number: int) -> list[Disk | Flash]:
    """Draw the drives of a seed, every third one flash; more drives begin with the fewer."""

    def one(place: int) -> Disk | Flash:
        rng = random.Random(f"census {seed} {place}")
        return draw_flash(rng) if place % 3 == 2 else draw(rng)

    return [one(place) for place in range(number)]


def experiments(drive: Disk | Flash, seed: int) -> dict[str, Experiment]:
    """Return the experiments that run on a drive, by the name of the workload."""
    found = {}
    for each in WORKLOADS:
        jobs = each.jobs(drive, seed)
        if jobs is None:
            continue
        jobs = promises.scaled(jobs, drive)
        if not promises.feasible(jobs, drive):
            continue
        seconds = each.disk_seconds if isinstance(drive, Disk) else each.flash_seconds
        apart = each.apart if isinstance(drive, Disk) else 0
        # EARLY seconds of the job that starts last.
        early = EARLY + apart * (len(jobs) - 1)
        found[each.name] = Experiment(
            each.name,
            jobs,
            WAYS,
            lab_drive(drive),
            seconds,
            seed,
            apart=apart,
            early=early if seconds > early else 0,
        )
    return found


def scheduler_for(way: Scheduler, its: Experiment, drive: Disk | Flash) -> Scheduler:
    """Return the scheduler with its default reservation on this drive, if one is used."""
    if not way.reserves or all(job.reservation for job in its.jobs):
        return way
    return schedulers.htbs_with_rest(way, promises.rest_bw(its.jobs, drive))
