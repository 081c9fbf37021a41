"""The paper's 5.1, comparison with pClock.

Two synchronous applications read 4k blocks. app1 reads at random and has reserved 200 KB/s within
50 ms, app2 reads sequentially and has reserved 800 KB/s within 100 ms. Which bandwidth does each
get in five minutes, with a B_max of 20?
"""

from results.experiments import drives, schedulers
from results.experiments.setting import Setting
from results.lab import figure, table, words
from results.lab.experiment import GIB, KIB, Experiment, Job, Reservation
from results.lab.study import Case, Claim, Runs, Study

# The paper does not give a burst. Two requests are the least with which a request conforms if it
# follows another one immediately.
BURST = 8 * KIB

APP1 = Job("app1", "randread", 0, 2 * GIB, Reservation(200 * KIB, BURST, 50_000))
APP2 = Job("app2", "read", 2 * GIB, 2 * GIB, Reservation(800 * KIB, BURST, 100_000))


def study(name: str, title: str, asked: str, setting: Setting) -> Study:
    """Make the study for a setting; its schedulers include pClock and the paper's rule."""

    def experiment(seed: int) -> Experiment:
        return Experiment(
            name,
            setting.jobs,
            setting.ways,
            setting.drive,
            setting.seconds,
            seed,
            series="bandwidth",
            drawn=("pclock", "htbs-paper", "htbs", "bfq"),
            apart=setting.apart,
        )

    return Study(
        name=name,
        title=title,
        asked=asked,
        cases=(Case(setting.drive.title, experiment),),
        claims=lambda runs: claims(name, runs, setting),
        figure=figure.bandwidth_over_time,
        table=table.per_job,
        words=words.promises,
    )


def claims(case: str, runs: Runs, setting: Setting) -> list[Claim]:
    """Return the claims of the paper's figure 4."""
    pclock, rule = runs[case]["pclock"], runs[case]["htbs-paper"]
    app1, app2 = setting.jobs
    paper = setting.drive == drives.PAPER

    def got(run: dict) -> str:
        return ", ".join(
            f"{app.name} got {run[app.name]['bw'] / KIB:,.0f} of {app.reservation.bw / KIB:,.0f}"
            " KB/s"
            for app in setting.jobs
        )

    def kept(run: dict, job: Job) -> bool:
        return run[job.name]["bw"] >= job.reservation.bw

    return [
        Claim(
            case,
            "pClock does not give app2 its bandwidth",
            not kept(pclock, app2),
            got(pclock),
            paper,
            rule=True,
        ),
        Claim(
            case,
            f"{schedulers.HTBS_PAPER.title} gives both applications their bandwidth",
            kept(rule, app1) and kept(rule, app2),
            got(rule),
            rule=True,
        ),
        Claim(
            case,
            f"{schedulers.HTBS_PAPER.title} completes no request late",
            rule["app1"]["late"] + rule["app2"]["late"] == 0,
            f"{rule['app1']['late']} of app1 and {rule['app2']['late']} of app2 were late",
            rule=True,
        ),
    ]


STUDY = study(
    "bandwidth",
    "5.1 Bandwidth of two applications",
    """
Does each of two applications get its bandwidth within its latency? This is the paper's experiment
5.1 and figure 4. app1 reads 4k blocks at random and has reserved 200 KB/s within 50 ms. app2 reads
4k blocks sequentially and has reserved 800 KB/s within 100 ms. Each has one request in flight.
Duration: five minutes.
""",
    Setting(drives.PAPER, (APP1, APP2), schedulers.ALL, 300),
)
