"""The paper's 5.2, what B_max costs in latency.

The applications of 5.1 for 10 seconds, under HTBS with B_max 1, which is pClock, and with B_max 20.
How long do requests take?
"""

from results.experiments import drives, schedulers
from results.experiments.bandwidth import APP1, APP2
from results.experiments.setting import Setting
from results.lab import figure, table
from results.lab.experiment import Experiment, Scheduler
from results.lab.study import Case, Claim, Runs, Study
from results.lab.words import ms, time


def b_max(number: int, t_wait_us: int = 10_000) -> Scheduler:
    """HTBS with this B_max, and nothing else changed."""
    tunables = schedulers.HTBS_PAPER.tunables | {"b_max": number, "t_wait_us": t_wait_us}
    return Scheduler(f"htbs-{number}", f"B_max {number}", "htbs", tunables)


def study(name: str, title: str, asked: str, setting: Setting) -> Study:
    """Ask in a setting; its ways are B_max 1 and B_max 20."""

    def experiment(seed: int) -> Experiment:
        return Experiment(
            name, setting.jobs, setting.ways, setting.drive, setting.seconds, seed, series="latency"
        )

    return Study(
        name=name,
        title=title,
        asked=asked,
        cases=(Case(setting.drive.title, experiment),),
        claims=lambda runs: claims(name, runs, setting.drive == drives.PAPER),
        figure=figure.latency_over_time,
        table=table.per_job,
        words=lambda _, runs: why(name, runs),
    )


def larger(one: float, other: float) -> bool:
    """Is it larger by a hundredth at least: what is less is luck."""
    return one > 1.01 * other


def why(case: str, runs: Runs) -> str:
    """Why the jitter of app2 depends on how one looks at it."""
    one, twenty = runs[case]["htbs-1"]["app2"], runs[case]["htbs-20"]["app2"]
    if not larger(one["p50_us"], twenty["p50_us"]):
        return (
            "B_max makes no difference to speak of. The drive serves both applications' blocks side"
            " by side, each has one under way, and so nobody waits for the other's run."
        )
    return (
        f"Jitter is said in two ways because they differ for app2. With B_max 1 half of its"
        f" requests take longer than {ms(one['p50_us'])}; with 20 half are done within"
        f" {ms(twenty['p50_us'])}, for they are served in a row, and the first of a row waits like"
        f" all did before: the longest take {ms(one['max_us'])} and {ms(twenty['max_us'])}. So the"
        " latencies lie further apart for their mean, which is what the paper's figure shows, while"
        " the few long ones weigh less in the deviation in milliseconds."
    )


def claims(case: str, runs: Runs, paper: bool) -> list[Claim]:
    """What the paper says of its figure 5."""
    one, twenty = runs[case]["htbs-1"], runs[case]["htbs-20"]
    apps = ("app1", "app2")

    def both(key: str) -> str:
        each = (f"{app} {time(one[app][key])} and {time(twenty[app][key])}" for app in apps)
        return ", ".join(each)

    def variation(run: dict, app: str) -> float:
        return run[app]["jitter_us"] / run[app]["mean_us"]

    return [
        Claim(
            case,
            "no request is late with B_max 20",
            not any(twenty[app]["late"] for app in apps),
            ", ".join(
                f"{twenty[app]['late']} of {app} were late, the longest took"
                f" {time(twenty[app]['max_us'])}"
                for app in apps
            ),
            paper,
        ),
        Claim(
            case,
            "the jitter of app2 is larger with B_max 20 than with 1, against its mean latency",
            larger(variation(twenty, "app2"), variation(one, "app2")),
            "standard deviation over mean with 1 and with 20: "
            + ", ".join(
                f"{app} {variation(one, app):.2f} and {variation(twenty, app):.2f}" for app in apps
            ),
            paper,
        ),
        Claim(
            case,
            "it is so in milliseconds, too",
            larger(twenty["app2"]["jitter_us"], one["app2"]["jitter_us"]),
            f"standard deviation with 1 and with 20: {both('jitter_us')}",
        ),
        Claim(
            case,
            "the mean latency of app1 is larger with B_max 20 than with 1",
            larger(twenty["app1"]["mean_us"], one["app1"]["mean_us"]),
            f"with 1 and with 20: {both('mean_us')}",
        ),
    ]


STUDY = study(
    "latency",
    "5.2 Latency and B_max",
    """
The paper's experiment 5.2 and figure 5: the applications of 5.1 for 10 seconds. B_max bounds how
many requests of one application are served in a row. With 1 HTBS is pClock.
""",
    Setting(drives.PAPER, (APP1, APP2), (b_max(1), b_max(20)), 10),
)
