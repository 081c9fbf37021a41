"""Where a question is asked."""

from dataclasses import dataclass

from results.lab.experiment import Drive, Job, Scheduler


@dataclass(frozen=True)
class Setting:
    """A drive, two jobs with reservations on it, under what they run, and for how long."""

    drive: Drive
    jobs: tuple[Job, Job]
    ways: tuple[Scheduler, ...]
    seconds: int
