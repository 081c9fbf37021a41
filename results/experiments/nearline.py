"""The paper's questions on a current disk with command queueing.

It takes up to 32 requests and serves first what it reaches first: the order is no longer the
scheduler's.
"""

from results.experiments import bandwidth, drives, latency, neighbour, schedulers, total
from results.experiments.bandwidth import APP1, APP2
from results.experiments.setting import Setting
from results.lab.experiment import KIB

BANDWIDTH = bandwidth.study(
    "nearline-bandwidth",
    "5.1 on a nearline disk",
    """
The applications of 5.1 on a disk of 18 TB that takes 32 requests and serves first what it reaches
first. 10 seconds.
""",
    Setting(drives.NEARLINE, (APP1, APP2), schedulers.ALL, 10),
)

LATENCY = latency.study(
    "nearline-latency",
    "5.2 on a nearline disk",
    "The applications of 5.1 for 10 seconds on the nearline disk, with `b_max` 1 and 20.",
    Setting(drives.NEARLINE, (APP1, APP2), latency.WAYS, 10),
)

TOTAL = total.study(
    "nearline-total",
    "5.3 on a nearline disk",
    """
Seven sequential readers, alone, with two and with four random ones, on the nearline disk. 4
seconds, one run.

A drive that has a request of each of the seven serves the nearest first, and lets others wait for a
second: deadlines are lost as well as throughput. And seven of the longest seeks take longer than
the 100 ms that each has reserved, so that no run can begin without a risk. HTBS begins runs all the
same, as long as the turns that follow are in time.
""",
    total.cases("nearline-total", drives.NEARLINE, 4, lambda _: total.SEEDS[:1]),
)

REST = 128 * KIB
RATES = "rbps=270000000 rseqiops=15000 rrandiops=170 wbps=270000000 wseqiops=3000 wrandiops=170"

NEIGHBOUR = neighbour.study(
    "nearline-neighbour",
    "A neighbour that floods a nearline disk",
    """
The same on the nearline disk, with 128 KB/s for all groups without a reservation. 30 seconds.
""",
    Setting(
        drives.NEARLINE,
        (neighbour.kept(APP1, 80_000), neighbour.kept(APP2, 110_000)),
        (
            schedulers.htbs_with_rest(schedulers.HTBS_PAPER, REST),
            schedulers.htbs_with_rest(schedulers.HTBS, REST),
            schedulers.bfq_weights(KIB),
            schedulers.io_max("wiops=40"),
            schedulers.io_cost(RATES, 80_000, KIB),
            schedulers.MQ_DEADLINE,
        ),
        30,
    ),
)

STUDIES = (BANDWIDTH, LATENCY, TOTAL, NEIGHBOUR)
