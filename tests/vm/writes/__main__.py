"""Random writes to the control files in a guest: python -m tests.vm.writes --count N --seed N."""

import argparse
import random
import sys

from tests.vm import GuestError, SetupError, writes
from tests.vm.functional import SERIES


def main() -> int:
    """Do the writes and print how many were accepted."""
    parser = argparse.ArgumentParser(prog="python -m tests.vm.writes", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--kernel", choices=SERIES, default=SERIES[-1], help="series")
    arguments = parser.parse_args()
    print(f"{arguments.count} writes, seed {arguments.seed}, {arguments.kernel}", flush=True)
    print(writes.boot(arguments.seed, arguments.count).run(arguments.kernel).stdout, end="")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (GuestError, SetupError) as error:
        sys.exit(f"writes: {error}")
