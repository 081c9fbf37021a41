"""The paper's 5.2, what B_max costs in latency.

The applications of 5.1 for 10 seconds, under HTBS with B_max 1, which is pClock, and with B_max 20.
How long do requests take?
"""

from results.experiments import drives, schedulers
from results.experiments.bandwidth import APP1, APP2
from results.lab import figure, table
from results.lab.experiment import Drive, Experiment, Scheduler
from results.lab.study import Case, Claim, Runs, Study

B_MAX_1 = Scheduler("htbs-1", "B_max 1", "htbs", schedulers.HTBS.tunables | {"b_max": 1})
B_MAX_20 = Scheduler("htbs-20", "B_max 20", "htbs", schedulers.HTBS.tunables)

SECONDS = 10


def study(name: str, title: str, asked: str, drive: Drive) -> Study:
    """Ask on a drive."""

    def experiment(seed: int) -> Experiment:
        return Experiment(
            name, (APP1, APP2), (B_MAX_1, B_MAX_20), drive, SECONDS, seed, series="latency"
        )

    return Study(
        name=name,
        title=title,
        asked=asked,
        cases=(Case(drive.title, experiment),),
        claims=lambda runs: claims(name, runs),
        figure=figure.latency_over_time,
        table=table.per_job,
    )


def claims(case: str, runs: Runs) -> list[Claim]:
    """What the paper says of its figure 5."""
    one, twenty = runs[case]["htbs-1"], runs[case]["htbs-20"]

    def ms(key: str, app: str) -> str:
        return f"{one[app][key] / 1000:.2f} ms and {twenty[app][key] / 1000:.2f} ms"

    def variation(run: dict, app: str) -> float:
        return run[app]["jitter_us"] / run[app]["mean_us"]

    return [
        Claim(
            case,
            "no request is late with B_max 20",
            twenty["app1"]["late"] + twenty["app2"]["late"] == 0,
            f"{twenty['app1']['late']} of app1 and {twenty['app2']['late']} of app2 were late, the"
            f" largest latencies are {twenty['app1']['max_us'] / 1000:.1f} ms and"
            f" {twenty['app2']['max_us'] / 1000:.1f} ms",
        ),
        Claim(
            case,
            "the jitter of app2 is larger with B_max 20 than with 1",
            variation(twenty, "app2") > variation(one, "app2"),
            f"standard deviation over mean is {variation(one, 'app2'):.2f} and"
            f" {variation(twenty, 'app2'):.2f} (standard deviation {ms('jitter_us', 'app2')})",
        ),
        Claim(
            case,
            "the mean latency of app1 is larger with B_max 20 than with 1",
            twenty["app1"]["mean_us"] > one["app1"]["mean_us"],
            f"{ms('mean_us', 'app1')} (standard deviation {ms('jitter_us', 'app1')})",
        ),
    ]


STUDY = study(
    "latency",
    "5.2 Latency and B_max",
    """
The paper's experiment 5.2 and figure 5: the applications of 5.1 for 10 seconds. B_max bounds how
many requests of one application are served in a row. With 1 HTBS is pClock.
""",
    drives.PAPER,
)
