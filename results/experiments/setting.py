"""The drive, the jobs and the schedulers of a study."""

from dataclasses import dataclass

from results.lab.experiment import Drive, Job, Scheduler


@dataclass(frozen=True)
class Setting:
    """A drive, two jobs with reservations on it, the schedulers, and seconds.

    The jobs start one after the other if there is time for it, because BFQ sometimes merges the
    queues of jobs that start within 600 ms, and is slow then.
    """

    drive: Drive
    jobs: tuple[Job, Job]
    ways: tuple[Scheduler, ...]
    seconds: int
    apart: float = 1
