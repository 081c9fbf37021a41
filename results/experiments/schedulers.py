"""The schedulers that the experiments compare, as their authors mean them to be used."""

from dataclasses import replace

from results.lab.experiment import KIB, Job, Scheduler

# Runs and waits as long as b_max and t_wait_us say, whatever the others can bear: the paper's.
_PAPER = {"policy": "paper"}

PCLOCK = Scheduler("pclock", "pClock", "htbs", _PAPER | {"b_max": 1, "t_wait_us": 0})
HTBS_PAPER = Scheduler(
    "htbs-paper", "HTBS paper", "htbs", _PAPER | {"b_max": 20, "t_wait_us": 10_000}
)
# Runs and waits as long as the others' deadlines allow: as HTBS is loaded.
_SLACK = {"policy": "slack", "b_max": 4096, "t_wait_us": 10_000}
HTBS = Scheduler("htbs", "HTBS", "htbs", _SLACK)
BFQ = Scheduler("bfq", "BFQ", "bfq")
# The paper's B_max of 20 requests for BFQ as well: its budget, in sectors.
BFQ_20 = Scheduler("bfq-20", "BFQ budget 20", "bfq", {"max_budget": 160, "low_latency": 0})
MQ_DEADLINE = Scheduler("mq-deadline", "mq-deadline", "mq-deadline")
KYBER = Scheduler("kyber", "kyber", "kyber")
NONE = Scheduler("none", "none", "none")

# The paper compares these.
PAPER = (PCLOCK, HTBS_PAPER, BFQ_20)
ALL = (PCLOCK, HTBS_PAPER, HTBS, BFQ, BFQ_20, MQ_DEADLINE, KYBER, NONE)


def htbs_with_rest(scheduler: Scheduler, bw: int) -> Scheduler:
    """HTBS, where all without a reservation of their own share one of so many bytes/s."""
    rest = {"default_bw": bw, "default_burst": 64 * KIB}
    return replace(scheduler, tunables={**scheduler.tunables, **rest})


def bfq_weights(unit: int) -> Scheduler:
    """bfq with a weight of one for each unit of reserved bytes/s, and one for the others."""
    return Scheduler(
        "bfq-weight",
        "io.bfq.weight",
        "bfq",
        control=lambda job: {"io.bfq.weight": _weight(job, unit)},
    )


def io_max(limit: str) -> Scheduler:
    """Nothing for those with a reservation, a limit for the others."""

    def control(job: Job) -> dict[str, str]:
        return {} if job.reservation else {"io.max": f"$dev {limit}"}

    return Scheduler("io.max", f"io.max {limit}", "mq-deadline", control=control)


def io_cost(model: str, latency_us: int, unit: int) -> Scheduler:
    """io.cost with a model of the drive, slowed down until 95 % are within a latency.

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
