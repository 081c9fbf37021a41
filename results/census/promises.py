"""Reservations that a drive can keep, according to its data sheet.

A set of reservations is *feasible* on a drive if it could be kept with one request at a time in
the drive:

- Time. Requests at the reserved bandwidths take at most nine tenths of the drive's time on
  average. A sequential group takes a positioning within each of its latencies, and a transfer for
  each request. Groups without a reservation take a tenth.
- Latency. In the order of latencies, each latency covers the worst case of one request of this
  group and of each group before it, behind the longest request of the other groups, which the drive
  has begun.

A volatile write cache does not change this. If the groups without a reservation are limited to
their tenth, each write is on the medium before the next one. If they are not, they fill the cache,
and the next request waits for everything in it.

The reservations are those of the lab, scaled by the mean time of a random read: bandwidths are
divided by the ratio, latencies are multiplied by it. If the result is not feasible, all latencies
are raised until it is, and then all bandwidths are lowered.
"""

from collections.abc import Iterable
from dataclasses import replace

from results.lab.experiment import Job, Reservation
from tests.model.reservation import SECOND
from tests.sim.drives import Disk, Flash
from tests.sim.times import DiskTimes, FlashTimes, times

_READ = 4096

# Parts of the drive's time: of all groups, and of those without a reservation.
MOST = 0.9
REST = 0.1

# The drives that the reservations of the lab were made for, from their data sheets.
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
    """Return the parts of the time that reservations take: by bandwidth, and by latency."""
    by_bw = by_latency = 0.0
    for job in jobs:
        sequential = job.rw == "read" and isinstance(its, DiskTimes)
        takes = its.transfer(job.block) if sequential else its.mean(job.block, _writes(job))
        by_bw += job.reservation.bw / job.block * takes / SECOND
        if sequential:
            by_latency += its.mean(job.block, False) / (1000 * job.reservation.latency_us)
    return by_bw, by_latency


def share(jobs: Iterable[Job], drive: Disk | Flash) -> float:
    """Return the part of the time that all groups take on average."""
    rest = REST if any(not job.reservation for job in jobs) else 0
    return sum(_share(_promised(jobs), times(drive))) + rest


def _promised(jobs: Iterable[Job]) -> list[Job]:
    return sorted(
        (job for job in jobs if job.reservation), key=lambda job: job.reservation.latency_us
    )


def tightness(jobs: Iterable[Job], drive: Disk | Flash) -> float:
    """Return the largest part of its latency that a group needs in the worst case."""
    its = times(drive)
    longest = {job.name: its.longest(job.block, _writes(job)) for job in jobs}
    before, most = 0.0, 0.0
    for job in _promised(jobs):
        before += longest.pop(job.name)
        behind = max(longest.values(), default=0)
        most = max(most, (before + behind) / (1000 * job.reservation.latency_us))
    return most


def feasible(jobs: Iterable[Job], drive: Disk | Flash) -> bool:
    """Return true if the set could be kept with one request in flight."""
    rounded = 1.001
    return share(jobs, drive) <= MOST * rounded and tightness(jobs, drive) <= rounded


def scaled(jobs: tuple[Job, ...], drive: Disk | Flash) -> tuple[Job, ...]:
    """Return the lab's jobs with reservations that are feasible on a drive.

    The offered load of a job is scaled with its bandwidth.
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
    """Return the job with bandwidth and latency multiplied; its offered load follows."""
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
    """Return what groups without a reservation share: a tenth of the time, in bytes/s."""
    its = times(drive)
    dearest = min(
        job.block / its.mean(job.block, _writes(job)) for job in jobs if not job.reservation
    )
    return max(4096, int(REST * dearest * SECOND))
