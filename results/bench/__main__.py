"""Measure the price of scheduling: `make bench`, or profile it: `make bench PROFILE=CASE`.

The results in virtual time are the same on every machine, to the digit. Scaling is in real time.
"""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from results.bench import figure, guest, page, profile, scaling
from results.bench.cases import SCHEDULERS, Case, cases
from results.bench.summary import summarise
from results.lab.progress import Progress, clock
from results.lab.run import Advance, side_by_side, stripped_modules, versions
from tests.vm import GuestError, SetupError, kernels
from tests.vm.kernels import Kernel

KERNEL = "6.12"
_ALL = {case.name: case for case in cases()}
_FUNCTIONS = 40
DIRECTORY = Path(__file__).parent
RAW = kernels.BUILD / "results" / "bench" / "raw"


def main() -> int:
    """Run the guests, then reduce, draw and print the results."""
    parser = argparse.ArgumentParser(prog="python -m results.bench", description=__doc__)
    parser.add_argument("--profile", metavar="CASE", choices=[*_ALL, "list"], help="or list")
    wanted = parser.parse_args().profile
    begin = time.monotonic()
    if wanted == "list":
        print(*_ALL, sep="\n")
        return 0
    try:
        kernel = kernels.newest(KERNEL)
        htbs = stripped_modules(kernel)["htbs.ko"]
        if wanted:
            print(profiled(_ALL[wanted], kernel, htbs))
            print(f"bench: took {clock(time.monotonic() - begin)} min")
            return 0
        print(f"bench: {len(SCHEDULERS)} guests with kernel {kernel.version}, then one", flush=True)
        measured_with = inputs(kernel, htbs)
        raw, rounds = measure(kernel, htbs)
    except (SetupError, GuestError) as error:
        print(f"bench: failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: interrupted", file=sys.stderr)
        return 130
    for name, each in raw.items():
        write(RAW / f"{name}.json", measured_with | each)
    write(RAW / "scaling.json", measured_with | {"rounds": rounds})
    summary = measured_with | summarise(raw, rounds)
    write(DIRECTORY / "summary.json", summary)
    figure.cost(summary, DIRECTORY / "cost.png")
    print(f"\n{page.section(summary)}")
    print("bench: wrote results/bench/summary.json, cost.png; raw data: build/results/bench/raw")
    print("bench: make lab PAGE=1 takes them into results/README.md")
    print(f"bench: took {clock(time.monotonic() - begin)} min")
    return 0


def inputs(kernel: Kernel, htbs: bytes) -> dict:
    """Return what the numbers depend on: the kernel, the module, the programs."""
    return {
        "kernel": kernel.version,
        "versions": versions(),
        "htbs": hashlib.sha256(htbs).hexdigest(),
    }


def measure(kernel: Kernel, htbs: bytes) -> tuple[dict[str, dict], list[dict]]:
    """Return the raw data: of each scheduler in virtual time, and of scaling in real time."""

    def task(scheduler: str) -> Callable[[Advance], dict]:
        return lambda advance: guest.run(scheduler, kernel, htbs, advance)

    # The last schedulers have state for each cgroup, so their guests take longest.
    tasks = {scheduler: task(scheduler) for scheduler in reversed(SCHEDULERS)}
    raw = side_by_side(tasks, Progress(SCHEDULERS))
    last = {"scaling": lambda advance: scaling.run(kernel, htbs, advance)}
    rounds = side_by_side(last, Progress(list(last)))["scaling"]
    return {scheduler: raw[scheduler] for scheduler in SCHEDULERS}, rounds


def profiled(case: Case, kernel: Kernel, htbs: bytes) -> str:
    """Return where the instructions of a case go, and which functions take most under HTBS."""
    profile.marks(kernel)
    profile.plugin()

    def task(scheduler: str) -> Callable[[Advance], profile.Profile]:
        return lambda advance: profile.run(scheduler, case, kernel, htbs, advance)

    found = side_by_side({name: task(name) for name in SCHEDULERS}, Progress(SCHEDULERS))
    module = kernels.BUILD / kernel.version / "htbs.ko"
    return "\n\n".join((
        profile.table(case, {name: found[name] for name in SCHEDULERS}).rstrip(),
        profile.dearest(found["htbs"], _FUNCTIONS),
        profile.dearest_inlined(found["htbs"], module, _FUNCTIONS),
    ))


def write(path: Path, content: dict) -> None:
    """Write the content as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
