"""Run a command, or a shell, in a guest: python -m tests.vm --kernel 6.12 -- CMD."""

import argparse
import subprocess
import sys
from pathlib import Path

from tests.vm import Guest, GuestError, SetupError, boot, kernels


def main() -> int:
    """Run the command; return its exit code."""
    arguments = _arguments()
    guest = Guest(
        kernels.newest(arguments.kernel, arguments.flavour),
        clock=arguments.clock,
        files={path.name: path for path in arguments.module},
        name=arguments.name,
        memory=arguments.memory,
        timeout=arguments.timeout,
    )
    if not arguments.command:
        boot.prepare(guest, None)
        return subprocess.call(boot.shell(guest), shell=True)
    loads = [f"load {path.stem}" for path in arguments.module]
    script = "\n".join([*loads, " ".join(arguments.command)])
    result = guest.run(script, on_line=lambda line: print(line, flush=True), check=False)
    if any(result.out.iterdir()):
        print(f"$OUT is in {result.out}", file=sys.stderr)
    return result.exit_code


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.vm", description=__doc__)
    parser.add_argument("--kernel", default="6.12", help="series or version (%(default)s)")
    parser.add_argument("--flavour", default="amd64", help="amd64, cloud-amd64 or rt-amd64")
    parser.add_argument("--clock", choices=boot.CLOCKS, default="real")
    parser.add_argument("--module", type=Path, action="append", default=[], help="load this first")
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--timeout", type=float, default=600, help="seconds (%(default)g)")
    parser.add_argument("--name", default="command", help="directory below build/guests")
    parser.add_argument("command", nargs="*", help="shell command; without one, a shell")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (GuestError, SetupError) as error:
        sys.exit(f"tests.vm: {error}")
