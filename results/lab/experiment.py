"""What an experiment is made of; reads like the paragraph of the paper it comes from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

KIB = 1 << 10
GIB = 1 << 30


@dataclass(frozen=True)
class Reservation:
    """A cgroup's reservation: bw in bytes/s, burst in bytes, latency in microseconds."""

    bw: int
    burst: int
    latency_us: int

    def __str__(self) -> str:
        """As io.htbs takes it, behind the device's number."""
        return f"bw={self.bw} burst={self.burst} latency={self.latency_us}"


@dataclass(frozen=True)
class Job:
    """A fio job in a cgroup of its own.

    rw: fio's pattern; offset, size: its region of the drive, bytes; reservation: None for a job
    without one; block: of one request, bytes; options: more of fio's, by name; stage: jobs of a
    stage run at once, one stage after the other; ahead: it has the guest's only CPU before the
    others, so that its latency is the drive's time without the wait for the CPU; memory: what its
    cgroup may have, bytes, by the name of the limit ("max" is memory.max); all_it_can: it reserved
    more than it can ask for, so that each request conforms: the latency alone is a promise.
    """

    name: str
    rw: str
    offset: int
    size: int
    reservation: Reservation | None
    block: int = 4 * KIB
    options: Mapping[str, object] = field(default_factory=dict)
    stage: int = 0
    ahead: bool = False
    memory: Mapping[str, int] = field(default_factory=dict)
    all_it_can: bool = False

    @property
    def buffered(self) -> bool:
        """Does the drive get its I/O from the page cache, so that fio can't tell how much?"""
        return not self.options.get("direct", 1)


@dataclass(frozen=True)
class Database(Job):
    """PostgreSQL in the job's cgroup, used by pgbench; its region is a file system of its own.

    scale: of pgbench's tables; clients: that pgbench is; settings: of the server, by name.
    """

    scale: int = 1
    clients: int = 1
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def buffered(self) -> bool:
        """It is."""
        return True


@dataclass(frozen=True)
class Volume:
    """A part of the drive with ext4 on it, which the guest has on /volumes/NAME; in bytes."""

    name: str
    offset: int
    size: int


def io_htbs(job: Job) -> dict[str, str]:
    """A job's reservation, in io.htbs."""
    return {"io.htbs": f"$dev {job.reservation}"} if job.reservation else {}


@dataclass(frozen=True)
class Scheduler:
    """One way to run the experiment.

    name: in the summary; title: on the page; elevator: what queue/scheduler is set to; module: that
    is loaded for it, with parameters; tunables: in queue/iosched; root: files of the root cgroup
    with what is written to them; control: the same of a job's cgroup (without it, io.htbs if the
    elevator is htbs). $dev stands for the drive's number.
    """

    name: str
    title: str
    elevator: str
    tunables: Mapping[str, int | str] = field(default_factory=dict)
    module: str = ""
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    root: Mapping[str, str] = field(default_factory=dict)
    control: Callable[[Job], dict[str, str]] | None = None

    @property
    def reserves(self) -> bool:
        """Does it have reservations?"""
        return self.elevator == "htbs"

    def files(self, job: Job) -> dict[str, str]:
        """What is written to the files of a job's cgroup."""
        if self.control:
            return self.control(job)
        return io_htbs(job) if self.reserves else {}


@dataclass(frozen=True)
class Drive:
    """A simulated drive.

    parameters: that its module is loaded with; none: its default. title: on the page; size: bytes;
    queue: files of its queue with what is written to them when the scheduler is set; scheduled:
    the same for all schedulers but none, which has the drive's own tags only.
    """

    parameters: Mapping[str, int | str] = field(default_factory=dict)
    title: str = "7200 rpm disk"
    size: int = 80_026_361_856
    queue: Mapping[str, int | str] = field(default_factory=dict)
    scheduled: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """All jobs at once, under each scheduler in turn, for some seconds of virtual time.

    series: what is kept over time besides the numbers: "bandwidth", "latency" or nothing; drawn:
    the names of the schedulers for which the figure shows it. tail: the latency that one request
    of a thousand exceeds is kept, too. apart: seconds from one job's start to the next; they end
    together. runs_of: the name of another experiment, if the runs are that one's. volumes: the
    first one is the database's, if there is a database. early: seconds after which io.htbs.stat is
    kept, besides at the end; 0: at the end only.
    """

    name: str
    jobs: tuple[Job, ...]
    schedulers: tuple[Scheduler, ...]
    drive: Drive
    seconds: float
    seed: int = 1
    series: str = ""
    drawn: tuple[str, ...] = ()
    tail: bool = False
    apart: float = 0
    runs_of: str = ""
    volumes: tuple[Volume, ...] = ()
    early: float = 0

    @property
    def database(self) -> Database | None:
        """The job that is no fio, if there is one."""
        return next((job for job in self.jobs if isinstance(job, Database)), None)

    def seconds_of(self, job: Job) -> float:
        """How long a job runs, as fio is told; not of those that start apart."""
        return job.options.get("runtime", self.seconds)

    @property
    def run_as(self) -> str:
        """The name that its runs go by."""
        return self.runs_of or self.name
