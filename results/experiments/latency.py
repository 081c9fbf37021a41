"""The paper's 5.2, what B_max costs in latency.

How long do requests of the applications of 5.1 take in 10 seconds, under the paper's rule with
b_max 1 and 20?
"""

from results.experiments import drives, schedulers
from results.experiments.bandwidth import APP1, APP2
from results.experiments.setting import Setting
from results.lab import figure, table
from results.lab.experiment import Experiment
from results.lab.study import Case, Claim, Runs, Study
from results.lab.words import ms, time

B_MAX = (1, 20)
WAYS = tuple(schedulers.paper(f"htbs-{b_max}", b_max) for b_max in B_MAX)


def study(name: str, title: str, asked: str, setting: Setting) -> Study:
    """Make the study for a setting; its schedulers are WAYS."""

    def experiment(seed: int) -> Experiment:
        return Experiment(
            name,
            setting.jobs,
            setting.ways,
            setting.drive,
            setting.seconds,
            seed,
            series="latency",
            drawn=tuple(way.name for way in setting.ways),
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
    """Return true if one is larger by more than 1 %; a smaller difference is chance."""
    return one > 1.01 * other


def why(case: str, runs: Runs) -> str:
    """Say why the two measures of the jitter of app2 differ."""
    one, twenty = runs[case]["htbs-1"]["app2"], runs[case]["htbs-20"]["app2"]
    if not larger(one["p50_us"], twenty["p50_us"]):
        return (
            "b_max makes no difference here. Each application has one request in flight, and the"
            " drive serves both in parallel, so no request waits for the other's run."
        )
    return (
        "The two measures of jitter differ for app2. Its median latency is"
        f" {ms(one['p50_us'])} with b_max=1 and {ms(twenty['p50_us'])} with b_max=20, because only"
        " the first request of a run waits for app1. Its largest latency is"
        f" {ms(one['max_us'])} and {ms(twenty['max_us'])}. So the deviation is larger in proportion"
        " to the mean, as in the paper's figure, but smaller in milliseconds, because few requests"
        " are slow."
    )


def claims(case: str, runs: Runs, paper: bool) -> list[Claim]:
    """Return the claims of the paper's figure 5."""
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
            "no request is late with b_max=20",
            not any(twenty[app]["late"] for app in apps),
            ", ".join(
                f"{app}: {twenty[app]['late']} late, largest latency {time(twenty[app]['max_us'])}"
                for app in apps
            ),
            paper,
            rule=True,
        ),
        Claim(
            case,
            "the jitter of app2 over its mean latency is larger with b_max=20 than with b_max=1",
            larger(variation(twenty, "app2"), variation(one, "app2")),
            "standard deviation over mean with b_max 1 and 20: "
            + ", ".join(
                f"{app} {variation(one, app):.2f} and {variation(twenty, app):.2f}" for app in apps
            ),
            paper,
            rule=True,
        ),
        Claim(
            case,
            "the jitter of app2 in milliseconds is larger with b_max=20 than with b_max=1",
            larger(twenty["app2"]["jitter_us"], one["app2"]["jitter_us"]),
            f"standard deviation with b_max 1 and 20: {both('jitter_us')}",
            rule=True,
        ),
        Claim(
            case,
            "the mean latency of app1 is larger with b_max=20 than with b_max=1",
            larger(twenty["app1"]["mean_us"], one["app1"]["mean_us"]),
            f"mean with b_max 1 and 20: {both('mean_us')}",
            rule=True,
        ),
    ]


STUDY = study(
    "latency",
    "5.2 Latency and B_max",
    """
What do runs cost in latency? This is the paper's experiment 5.2 and figure 5: the applications of
5.1 under the paper's rule. `b_max` (the paper's B_max) limits the number of requests in a run of
one application. With `b_max` 1 there are no runs, as in pClock. Duration: 10 seconds.
""",
    Setting(drives.PAPER, (APP1, APP2), WAYS, 10),
)
