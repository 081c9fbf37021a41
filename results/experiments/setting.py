"""Where a question is asked."""

from dataclasses import dataclass

from results.lab.experiment import Drive, Job, Scheduler


@dataclass(frozen=True)
class Setting:
    """A drive, two jobs with reservations on it, the schedulers, and seconds.

    The jobs start apart where there is time for it: now and then BFQ merges the queues of jobs that
    start within 600 ms, and is slow then.
    """

    drive: Drive
    jobs: tuple[Job, Job]
    ways: tuple[Scheduler, ...]
    seconds: int
    apart: float = 1
