"""Reservations that a drive can keep, from what its data sheet says.

A set of reservations is *feasible* on a drive if it could be kept with one request at a time in
the drive:

- Time. Requests at the reserved bandwidths take nine tenths of the drive's time at most, in the
  mean. A sequential group takes a positioning for each of its latencies, and a transfer for each
  request. Groups without a reservation take a tenth.
- Latency. In the order of latencies, each is as long as what this group and those before it take
  for a request each at worst, behind the longest request of all others, which the drive has begun.

A volatile write cache changes nothing in that: who holds the groups without a reservation to their
tenth has each write on the medium before the next. Who does not fills the cache, and the next
request waits for all that is in it.

The reservations are those of the lab, scaled by the mean time of a random read: bandwidths are as
much lower as it is longer, and latencies as much longer. Where that is not feasible, all latencies
are longer until it is, and then all bandwidths lower.
"""

from collections.abc import Iterable
from dataclasses import replace

from results.lab.experiment import Job, Reservation
from tests.model.reservation import SECOND
from tests.sim.drives import Disk, Flash
from tests.sim.times import DiskTimes, FlashTimes, times

_READ = 4096

# Parts of the drive's time: for all, and for those without a reservation.
MOST = 0.9
REST = 0.1

# What the lab's reservations were made for, by their data sheets.
LAB_DISK = Disk(
    rpm=7200, size=80_026_361_856, rate=62_600_000, heads=2, track_seek=800_000,
    mean_seek=8_900_000, command=120_000, cache=8 << 20, segments=16, depth=1, patience=0,
)  # fmt: skip
LAB_FLASH = Flash(
    dies=8, page=16 << 10, read=75_000, program=650_000, erase=3_800_000, channel=800_000_000,
    link=1_067_000_000, controller=2_000, buffer=8 << 20, spare=0.15, read_run=8,
)  # fmt: skip


def _writes(job: Job) -> bool:
    return "write" in job.rw


def _share(jobs: Iterable[Job], its: DiskTimes | FlashTimes) -> tuple[float, float]:
    """The parts of the time that reservations take: by bandwidth, and by latency."""
    by_bw = by_latency = 0.0
    for job in jobs:
        sequential = job.rw == "read" and isinstance(its, DiskTimes)
        takes = its.transfer(job.block) if sequential else its.mean(job.block, _writes(job))
        by_bw += job.reservation.bw / job.block * takes / SECOND
        if sequential:
            by_latency += its.mean(job.block, False) / (1000 * job.reservation.latency_us)
    return by_bw, by_latency


def share(jobs: Iterable[Job], drive: Disk | Flash) -> float:
    """The part of the time that all take on average."""
    rest = REST if any(not job.reservation for job in jobs) else 0
    return sum(_share(_promised(jobs), times(drive))) + rest


def _promised(jobs: Iterable[Job]) -> list[Job]:
    return sorted(
        (job for job in jobs if job.reservation), key=lambda job: job.reservation.latency_us
    )


def tightness(jobs: Iterable[Job], drive: Disk | Flash) -> float:
    """The largest part of its latency that a group needs at worst."""
    its = times(drive)
    longest = {job.name: its.longest(job.block, _writes(job)) for job in jobs}
    before, most = 0.0, 0.0
    for job in _promised(jobs):
        before += longest.pop(job.name)
        behind = max(longest.values(), default=0)
        most = max(most, (before + behind) / (1000 * job.reservation.latency_us))
    return most


def feasible(jobs: Iterable[Job], drive: Disk | Flash) -> bool:
    """Could one keep what is promised, sending the drive one request at a time?"""
    rounded = 1.001
    return share(jobs, drive) <= MOST * rounded and tightness(jobs, drive) <= rounded


def scaled(jobs: tuple[Job, ...], drive: Disk | Flash) -> tuple[Job, ...]:
    """The lab's jobs with reservations that are feasible on a drive.

    What a job asks for is scaled with its bandwidth.
    """
    its = times(drive)
    lab = times(LAB_DISK if isinstance(drive, Disk) else LAB_FLASH)
    slower = its.mean(_READ, False) / lab.mean(_READ, False)
    jobs = tuple(_with(job, 1 / slower, slower) for job in jobs)
    jobs = tuple(_with(job, 1, max(1, tightness(jobs, drive))) for job in jobs)
    rest = REST if any(not job.reservation for job in jobs) else 0
    by_bw, by_latency = _share(_promised(jobs), its)
    left = (MOST - rest - by_latency) / by_bw if by_bw else 1
    return tuple(_with(job, min(1, left), 1) for job in jobs)


def _with(job: Job, bw: float, latency: float) -> Job:
    """A job with so many times the bandwidth and the latency; a limit of its own follows."""
    if not job.reservation:
        return job
    old = job.reservation
    its = Reservation(int(old.bw * bw), old.burst, -int(-old.latency_us * latency // 1))
    options = dict(job.options)
    if "rate" in options:
        options["rate"] = int(options["rate"] * bw)
    if "rate_iops" in options:
        options["rate_iops"] = max(1, round(options["rate_iops"] * bw))
    return replace(job, reservation=its, options=options)


def rest_bw(jobs: Iterable[Job], drive: Disk | Flash) -> int:
    """What groups without a reservation share, bytes/s: what takes a tenth of the time."""
    its = times(drive)
    dearest = min(
        job.block / its.mean(job.block, _writes(job)) for job in jobs if not job.reservation
    )
    return max(4096, int(REST * dearest * SECOND))
