"""What an experiment is made of; reads like the paragraph of the paper it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

KIB = 1 << 10
GIB = 1 << 30


@dataclass(frozen=True)
class Reservation:
    """What a cgroup is promised: bw in bytes/s, burst in bytes, latency in microseconds."""

    bw: int
    burst: int
    latency_us: int

    def __str__(self) -> str:
        """As io.htbs takes it, behind the device's number."""
        return f"bw={self.bw} burst={self.burst} latency={self.latency_us}"


@dataclass(frozen=True)
class Job:
    """A fio job in a cgroup of its own.

    rw: fio's pattern; offset, size: its region of the drive, bytes; block: of one request, bytes;
    options: more of fio's, by name.
    """

    name: str
    rw: str
    offset: int
    size: int
    reservation: Reservation
    block: int = 4 * KIB
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Scheduler:
    """One way to run the experiment.

    name: in the results; title: for people; elevator: what queue/scheduler is set to; tunables:
    in queue/iosched.
    """

    name: str
    title: str
    elevator: str
    tunables: Mapping[str, int] = field(default_factory=dict)

    @property
    def reserves(self) -> bool:
        """Does it know reservations?"""
        return self.elevator == "htbs"


@dataclass(frozen=True)
class Drive:
    """A simulated drive: the parameters that its module is loaded with; none: its default."""

    parameters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """All jobs at once, under each scheduler in turn, for some seconds of virtual time."""

    name: str
    jobs: tuple[Job, ...]
    schedulers: tuple[Scheduler, ...]
    drive: Drive
    seconds: int
    seed: int = 1
