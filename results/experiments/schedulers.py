"""The schedulers that the experiments compare, configured as their authors recommend.

A title has one meaning. HTBS is the module with its default settings; every other title of HTBS
lists all tunables that are set. The paper's rule is the same elevator with another dispatch rule
(tests/paper). pClock is the paper's rule with `b_max=1 t_wait_us=0`.
"""

from dataclasses import replace

from results.lab.experiment import KIB, Job, Scheduler


def htbs(name: str, *besides: str, **tunables: int | str) -> Scheduler:
    """Return HTBS with tunables; its title lists them and whatever else is set."""
    title = " ".join(["HTBS", *(f"{key}={value}" for key, value in tunables.items())])
    if besides:
        title += f" ({', '.join(besides)})"
    return Scheduler(name, title, "htbs", tunables, "htbs")


def paper(name: str, b_max: int, **tunables: int | str) -> Scheduler:
    """Return the paper's rule: b_max and t_wait_us limit runs and waits, whatever is due."""
    title = " ".join([f"paper b_max={b_max}", *(f"{key}={its}" for key, its in tunables.items())])
    return Scheduler(name, title, "htbs", tunables, "htbs-paper", {"b_max": b_max})


HTBS = htbs("htbs")
HTBS_PAPER = paper("htbs-paper", 20)
# pClock is the paper's rule with these settings; the paper compares itself with pClock.
PCLOCK = replace(paper("pclock", 1, t_wait_us=0), title="pClock")
BFQ = Scheduler("bfq", "BFQ", "bfq")
# BFQ with the paper's B_max of 20 requests as its budget, in sectors.
BFQ_20 = Scheduler(
    "bfq-20", "BFQ max_budget=160 low_latency=0", "bfq", {"max_budget": 160, "low_latency": 0}
)
MQ_DEADLINE = Scheduler("mq-deadline", "mq-deadline", "mq-deadline")
KYBER = Scheduler("kyber", "kyber", "kyber")
NONE = Scheduler("none", "none", "none")

# The paper compares these.
PAPER = (PCLOCK, HTBS_PAPER, BFQ_20)
ALL = (PCLOCK, HTBS_PAPER, HTBS, BFQ, BFQ_20, MQ_DEADLINE, KYBER, NONE)


def htbs_with_rest(scheduler: Scheduler, bw: int) -> Scheduler:
    """Return HTBS with a default reservation of bw bytes/s."""
    rest = {"default_bw": bw, "default_burst": 64 * KIB}
    title = " ".join([scheduler.title, *(f"{key}={value}" for key, value in rest.items())])
    return replace(scheduler, title=title, tunables={**scheduler.tunables, **rest})


def bfq_weights(unit: int) -> Scheduler:
    """Return BFQ with a weight of 1 per unit of reserved bytes/s, and of 1 for the other jobs."""
    return Scheduler(
        "bfq-weight",
        "io.bfq.weight",
        "bfq",
        control=lambda job: {"io.bfq.weight": _weight(job, unit)},
    )


def io_max(limit: str) -> Scheduler:
    """Return io.max with a limit for the jobs without a reservation."""

    def control(job: Job) -> dict[str, str]:
        return {} if job.reservation else {"io.max": f"$dev {limit}"}

    return Scheduler("io.max", f"io.max {limit}", "mq-deadline", control=control)


def io_cost(model: str, latency_us: int, unit: int) -> Scheduler:
    """Return io.cost with a model of the drive; it throttles until 95 % are within the latency.

    The weights are those of bfq_weights().
    """
    qos = f"enable=1 ctrl=user rpct=95 rlat={latency_us} wpct=95 wlat={latency_us} min=25 max=100"
    return Scheduler(
        "io.cost",
        "io.cost and io.weight",
        "mq-deadline",
        root={
            "io.cost.qos": f"$dev {qos}",
            "io.cost.model": f"$dev ctrl=user model=linear {model}",
        },
        control=lambda job: {"io.weight": _weight(job, unit)},
    )


def _weight(job: Job, unit: int) -> str:
    return str(job.reservation.bw // unit if job.reservation else 1)
