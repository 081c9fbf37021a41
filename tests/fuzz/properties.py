"""Run all Hypothesis tests with fresh examples: python -m tests.fuzz.properties.

`make test` draws the same examples each time. Here each round over all tests has a seed; it is
printed, and repeats the round.
"""

import argparse
import subprocess
import sys
import time
from random import randrange

from tests.unit.host import ROOT

TESTS = ("tests/unit", "tests/sim")
OPTIONS = ("-q", "-x", "-m", "hypothesis", "-p", "no:cacheprovider")


class PropertyError(AssertionError):
    """A property does not hold; the text names the example and how to repeat it."""


def run(seed: int, *tests: str) -> str:
    """Run a round and return pytest's output. Raises PropertyError."""
    command = ("-m", "pytest", *OPTIONS, "--hypothesis-profile=fresh", f"--hypothesis-seed={seed}")
    done = subprocess.run([sys.executable, *command, *(tests or TESTS)], cwd=ROOT,
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode:
        raise PropertyError(f"{done.stdout}{done.stderr}\nto see it again:\n"
                            f"    python -m tests.fuzz.properties --seed {seed}")  # fmt: skip
    return done.stdout


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.properties", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0, help="at least one round")
    parser.add_argument("--seed", type=int, default=randrange(1 << 24), help="of the first round")
    return parser.parse_args()


def main() -> int:
    """Run rounds until the time is over."""
    arguments = _arguments()
    end = time.monotonic() + 60 * arguments.minutes
    seed = arguments.seed
    while True:
        print(f"properties: seed {seed}", flush=True)
        print(f"    {run(seed).splitlines()[-1]}", flush=True)
        if time.monotonic() >= end:
            return 0
        seed += 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PropertyError as error:
        sys.exit(f"properties: {error}")
