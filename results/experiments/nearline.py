"""The paper's questions on a current disk with command queueing.

It takes up to 32 requests and serves first what it reaches first: the order is no longer the
scheduler's.
"""

from results.experiments import bandwidth, drives, latency, neighbour, schedulers, total
from results.lab import figure, table
from results.lab.experiment import KIB
from results.lab.study import Study

BANDWIDTH = bandwidth.study(
    "nearline-bandwidth",
    "5.1 on a nearline disk",
    """
The applications of 5.1 on a disk of 18 TB that takes 32 requests and serves first what it reaches
first. One minute.
""",
    drives.NEARLINE,
    60,
)

LATENCY = latency.study(
    "nearline-latency",
    "5.2 on a nearline disk",
    "The applications of 5.1 for 10 seconds with B_max 1 and 20, on the nearline disk.",
    drives.NEARLINE,
)

TOTAL = Study(
    name="nearline-total",
    title="5.3 on a nearline disk",
    asked="""
Seven sequential readers, alone, with two and with four random ones, on the nearline disk. 10
seconds, one run.
""",
    cases=total.cases("nearline-total", drives.NEARLINE, 10, lambda _: total.SEEDS[:1]),
    claims=lambda runs: total.claims("nearline-total", runs),
    figure=figure.totals,
    table=table.totals,
)

REST = 128 * KIB
RATES = "rbps=270000000 rseqiops=15000 rrandiops=170 wbps=270000000 wseqiops=3000 wrandiops=170"

NEIGHBOUR = neighbour.study(
    "nearline-neighbour",
    "A neighbour that floods a nearline disk",
    "The same on the nearline disk, with 128 KB/s for all that have no reservation.",
    neighbour.Setting(
        drives.NEARLINE,
        (neighbour.steady(bandwidth.APP1), neighbour.steady(bandwidth.APP2)),
        (
            schedulers.htbs_with_rest(schedulers.HTBS, REST),
            schedulers.htbs_with_rest(schedulers.HTBS_SLACK, REST),
            schedulers.bfq_weights(KIB),
            schedulers.io_max("wiops=40"),
            schedulers.io_cost(RATES, bandwidth.APP1.reservation.latency_us, KIB),
            schedulers.MQ_DEADLINE,
        ),
        30,
    ),
)

STUDIES = (BANDWIDTH, LATENCY, TOTAL, NEIGHBOUR)
