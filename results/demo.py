"""The demonstration: the paper's experiment 5.1 (Rocha and Bona, figure 4), one minute of it.

Two applications share a 7200 rpm disk. app1 reads 4k blocks at random and has a reservation of 200
KB/s within 50 ms; app2 reads 4k blocks sequentially and has a reservation of 800 KB/s within 100
ms. Both are synchronous, with one request in flight. pClock serves them in turn, which costs a seek
for every request. The paper's rule keeps the disk for a sequential reader for up to 20 requests and
waits up to 10 ms for each. HTBS with its default settings keeps the disk for the sequential reader
as long as the deadline of the other one allows.

Run by `make demo`. DEMO_SECONDS is the virtual time of each run.
"""

import json
import os
import sys
import time
from pathlib import Path

from results.experiments import schedulers
from results.experiments.bandwidth import APP1, APP2
from results.lab import figure
from results.lab.experiment import Drive, Experiment
from results.lab.run import run
from results.lab.table import table
from tests.vm import GuestError, SetupError, kernels

KERNEL = "6.12"
DIRECTORY = Path(__file__).parent / "demo"
SECONDS = 60
SECONDS_MIN, SECONDS_MAX = 10, 3600


def experiment(seconds: int) -> Experiment:
    """Return the experiment of the paper."""
    return Experiment(
        name="demo",
        jobs=(APP1, APP2),
        schedulers=(
            schedulers.PCLOCK,
            schedulers.HTBS_PAPER,
            schedulers.HTBS,
            schedulers.MQ_DEADLINE,
            schedulers.BFQ,
        ),
        drive=Drive(),
        seconds=seconds,
        apart=1,
    )


def late(run: dict) -> int:
    """Return the number of late requests of a run."""
    return sum(job["late"] for job in run.values())


def moved(run: dict) -> float:
    """Return the total bandwidth of a run, bytes/s."""
    return sum(job["bw"] for job in run.values())


def broken_claims(summary: dict) -> list[str]:
    """Return the claims of the demonstration that do not hold."""
    reserved = {app: promised["bw"] for app, promised in summary["reserved"].items()}
    pclock, paper, htbs = (summary["runs"][name] for name in ("pclock", "htbs-paper", "htbs"))
    claims = {
        "the paper's rule gives app1 its bandwidth": paper["app1"]["bw"] >= reserved["app1"],
        "the paper's rule gives app2 its bandwidth": paper["app2"]["bw"] >= reserved["app2"],
        "the paper's rule completes no request late": not late(paper),
        "HTBS completes no request late": not late(htbs),
        "HTBS gives app1 its bandwidth": htbs["app1"]["bw"] >= reserved["app1"],
        "HTBS gives app2 its bandwidth": htbs["app2"]["bw"] >= reserved["app2"],
        "HTBS moves twice as much as the paper's rule": moved(htbs) >= 2 * moved(paper),
        "pClock gives app1 more than it reserved": pclock["app1"]["bw"] > reserved["app1"],
        "pClock does not give app2 what it reserved": pclock["app2"]["bw"] < reserved["app2"],
    }
    return [claim for claim, holds in claims.items() if not holds]


def seconds_wanted(text: str) -> int:
    """Return DEMO_SECONDS as a number."""
    if text.isascii() and text.isdigit() and SECONDS_MIN <= int(text) <= SECONDS_MAX:
        return int(text)
    raise SystemExit(
        f"demo: DEMO_SECONDS is a whole number from {SECONDS_MIN} to {SECONDS_MAX}, not {text!r}"
    )


def main() -> int:
    """Run the demonstration, print and save the results; return 0 if the claims hold."""
    begin = time.monotonic()
    wanted = experiment(seconds_wanted(os.environ.get("DEMO_SECONDS") or str(SECONDS)))
    try:
        kernel = kernels.newest(KERNEL)
        print(
            f"demo: {len(wanted.schedulers)} guests with kernel {kernel.version} and a simulated"
            f" 7200 rpm disk, {wanted.seconds} s of virtual time each",
            flush=True,
        )
        outcome = run(wanted, kernel)
    except (SetupError, GuestError) as error:
        print(f"demo: failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo: interrupted", file=sys.stderr)
        return 130
    summary = outcome.summary()
    DIRECTORY.mkdir(exist_ok=True)
    (DIRECTORY / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    drawn = figure.bandwidth(outcome, ("pclock", "htbs-paper", "htbs"))
    figure.save(drawn, DIRECTORY / "bandwidth.png")
    print(f"\n{table(wanted, summary)}\n")
    for file in ("summary.json", "bandwidth.png"):
        print(f"demo: wrote results/demo/{file}")
    print(f"demo: took {time.monotonic() - begin:.0f} s")
    broken = broken_claims(summary)
    for claim in broken:
        print(f"demo: DOES NOT HOLD: {claim}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
