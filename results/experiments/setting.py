"""Where a question is asked."""

from dataclasses import dataclass

from results.lab.experiment import Drive, Job, Scheduler


@dataclass(frozen=True)
class Setting:
    """A drive, two jobs with reservations on it, under what they run, and for how long.

    They start apart where there is time for it, as people would start them: bfq takes what begins
    within 600 ms for one application, now and then, and is slow then.
    """

    drive: Drive
    jobs: tuple[Job, Job]
    ways: tuple[Scheduler, ...]
    seconds: int
    apart: float = 1
