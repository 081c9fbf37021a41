"""The parts of an experiment."""

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
        """Return the reservation as io.htbs takes it, behind the device's number."""
        return f"bw={self.bw} burst={self.burst} latency={self.latency_us}"


@dataclass(frozen=True)
class Job:
    """A fio job in a cgroup of its own.

    rw: fio's pattern; offset, size: its region of the drive, bytes; reservation: None for a job
    without one; block: size of a request, bytes; options: more options of fio, by name; stage: the
    jobs of a stage run at once, one stage after the other; ahead: the job has the guest's only CPU
    before the others, so its latency does not include the wait for the CPU; memory: limits of its
    cgroup in bytes, by name ("max" is memory.max); all_it_can: the job has reserved more than it
    can submit, so each request conforms, and only the latency is a guarantee.
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
        """Return true if its I/O passes the page cache, so fio does not know what the drive did."""
        return not self.options.get("direct", 1)


@dataclass(frozen=True)
class Database(Job):
    """PostgreSQL in the job's cgroup, used by pgbench; its region is a file system of its own.

    scale: of pgbench's tables; clients: of pgbench; settings: of the server, by name.
    """

    scale: int = 1
    clients: int = 1
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def buffered(self) -> bool:
        """Return true: PostgreSQL uses the page cache."""
        return True


@dataclass(frozen=True)
class Volume:
    """A part of the drive with ext4, mounted on /volumes/NAME; offset and size in bytes."""

    name: str
    offset: int
    size: int


def io_htbs(job: Job) -> dict[str, str]:
    """Return what io.htbs of a job's cgroup is set to."""
    return {"io.htbs": f"$dev {job.reservation}"} if job.reservation else {}


@dataclass(frozen=True)
class Scheduler:
    """One way to run the experiment.

    name: in the summary; title: on the page; elevator: the value of queue/scheduler; module: loaded
    for it, with parameters; tunables: in queue/iosched; root: files of the root cgroup with their
    values; control: files of a job's cgroup with their values (by default io.htbs if the elevator
    is htbs). $dev stands for the drive's number.
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
        """Return true if it has reservations."""
        return self.elevator == "htbs"

    def files(self, job: Job) -> dict[str, str]:
        """Return the files of a job's cgroup with their values."""
        if self.control:
            return self.control(job)
        return io_htbs(job) if self.reserves else {}


@dataclass(frozen=True)
class Drive:
    """A simulated drive.

    parameters: of its module; without any, the defaults. title: on the page; size: bytes; queue:
    files of its queue with their values, written when the scheduler is set; scheduled: the same for
    all schedulers except none, which has only the drive's own tags.
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
    the names of the schedulers for which the figure shows it. tail: the p99.9 is kept, too. apart:
    seconds from one job's start to the next; the jobs end together. runs_of: the name of another
    experiment, if its runs are used. volumes: the first one is the database's, if there is a
    database. early: seconds after which io.htbs.stat is kept as well; 0: only at the end.
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
        """Return the database among the jobs, if there is one."""
        return next((job for job in self.jobs if isinstance(job, Database)), None)

    def seconds_of(self, job: Job) -> float:
        """Return how long a job runs; not valid for jobs that start apart."""
        return job.options.get("runtime", self.seconds)

    @property
    def run_as(self) -> str:
        """Return the name of its runs."""
        return self.runs_of or self.name
