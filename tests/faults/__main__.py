"""Soak: run rows of the fault matrix, drawn by a seed, until the time is over.

A round is a guest with a kernel, some rows and a duration of their loads. All of it follows from
the seed of the round, so a round that failed is repeated by its seed alone. The guest's CPUs run in
parallel, which finds more than when they take turns as in `make test` (but see tests/vm/boot.py);
those of a kernel that looks for data races take turns.
"""

import argparse
import random
import sys
import time
from datetime import timedelta

from tests.faults.batch import run_rows
from tests.faults.matrix import BY_NAME, ROWS, Row
from tests.vm import GuestError, SetupError, debug
from tests.vm.functional import SERIES

_ROWS_A_ROUND = 4
_LOADS = (4, 10, 30)


def main() -> int:
    """Run rounds; return 1 if one failed."""
    arguments = _arguments()
    end = time.monotonic() + arguments.minutes * 60
    seed = arguments.seed
    while _round(seed, arguments):
        seed += 1
        left = end - time.monotonic()
        if left <= 0:
            return 0
        print(f"{timedelta(seconds=round(left))} left", flush=True)
    return 1


def _round(seed: int, arguments: argparse.Namespace) -> bool:
    """Run a round; return true if all of its rows passed."""
    kernel, rows, load = _draw(seed, arguments.kernels)
    rows = [BY_NAME[name] for name in arguments.rows] if arguments.rows else rows
    names = " ".join(row.name for row in rows)
    print(f"seed {seed}: kernel {kernel}, {load} s of load: {names}", flush=True)
    begin = time.monotonic()
    what = _failure(kernel, rows, seed, load)
    if what is None:
        print(f"    passed in {time.monotonic() - begin:.0f} s", flush=True)
        return True
    print(what)
    again = f"make soak SEED={seed}"
    if arguments.kernels != list(SERIES):
        again += f" KERNELS='{' '.join(arguments.kernels)}'"
    if arguments.rows:
        again += f" ROWS='{' '.join(arguments.rows)}'"
    print(f"seed {seed} failed; repeat it by: {again}")
    return False


def _failure(kernel: str, rows: list[Row], seed: int, load: int) -> str | None:
    """Run the rows in a guest; return the error, or None."""
    try:
        result = run_rows(
            kernel,
            rows,
            seed=seed,
            load=load,
            name=f"soak-{kernel}",
            parallel=kernel not in debug.RACES,
        )
    except GuestError as error:
        return str(error)
    return result.stdout if result.exit_code else None


def _draw(seed: int, kernels: list[str]) -> tuple[str, list[Row], int]:
    """Return kernel, rows and load of a seed."""
    draw = random.Random(seed)
    kernel = draw.choice(kernels)
    pool = [row for row in ROWS if kernel in debug.INJECTS or not row.injects]
    return kernel, draw.sample(pool, _ROWS_A_ROUND), draw.choice(_LOADS)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0, help="without it, one round")
    parser.add_argument("--seed", type=int, default=1, help="of the first round (%(default)s)")
    parser.add_argument(
        "--kernels",
        nargs="+",
        default=list(SERIES),
        metavar="KERNEL",
        choices=SERIES + debug.CONFIGS,
        help="drawn from these: %(choices)s",
    )
    parser.add_argument(
        "--rows",
        nargs="+",
        default=[],
        metavar="ROW",
        choices=list(BY_NAME),
        help="these, in this order, instead of drawn ones: %(choices)s",
    )
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupError as error:
        sys.exit(f"tests.faults: {error}")
    except KeyboardInterrupt:
        print("tests.faults: interrupted", file=sys.stderr)
        sys.exit(130)
