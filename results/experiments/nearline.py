"""The paper's questions on a current disk with command queueing.

The disk takes up to 32 requests and serves the nearest first, so the scheduler no longer determines
the order.
"""

from results.experiments import bandwidth, drives, latency, neighbour, schedulers, total
from results.experiments.bandwidth import APP1, APP2
from results.experiments.setting import Setting
from results.lab.experiment import KIB

BANDWIDTH = bandwidth.study(
    "nearline-bandwidth",
    "5.1 on a nearline disk",
    """
The question of [5.1](#51-bandwidth-of-two-applications) on the nearline disk. Duration: 10 seconds.
""",
    Setting(drives.NEARLINE, (APP1, APP2), schedulers.ALL, 10),
)

LATENCY = latency.study(
    "nearline-latency",
    "5.2 on a nearline disk",
    "The question of [5.2](#52-latency-and-b_max) on the nearline disk. Duration: 10 seconds.",
    Setting(drives.NEARLINE, (APP1, APP2), latency.WAYS, 10),
)

TOTAL = total.study(
    "nearline-total",
    "5.3 on a nearline disk",
    """
The question of [5.3](#53-total-bandwidth-of-many-readers) on the nearline disk. Duration: 4
seconds, one run.

If the disk has a request of each sequential reader, it serves the nearest first and lets others
wait for up to a second, which costs throughput as well as deadlines. Moreover, seven of the longest
seeks take longer than the 100 ms that each reader has reserved, so no run can begin without risk.
HTBS begins runs nevertheless, as long as the turns that follow are in time.
""",
    total.cases("nearline-total", drives.NEARLINE, 4, lambda _: total.SEEDS[:1]),
)

REST = 128 * KIB
RATES = "rbps=270000000 rseqiops=15000 rrandiops=170 wbps=270000000 wseqiops=3000 wrandiops=170"

NEIGHBOUR = neighbour.study(
    "nearline-neighbour",
    "A neighbour that floods a nearline disk",
    """
The question of [the neighbour](#a-neighbour-that-floods-the-disk) on the nearline disk, with a
default reservation of 128 KB/s. Duration: 30 seconds.
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
