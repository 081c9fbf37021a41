"""The command line."""

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from htbsctl import VERSION
from htbsctl.failure import Exit, Failure
from htbsctl.host import Host

COMMANDS = (
    "status",
    "enable",
    "disable",
    "reserve",
    "release",
    "apply",
    "watch",
    "check",
    "calibrate",
    "fit",
    "top",
    "explain",
    "trace",
    "doctor",
    "metrics",
)
_EPILOG = """
exit codes: 0 done; 1 failed, one line says why; 2 the command line is wrong; 3 done, but
something needs attention. See also htbsctl COMMAND --help, htbsctl(8), io.htbs(5) and htbs(4).
"""


def parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of some commands and their arguments. Only their modules are imported."""
    top = argparse.ArgumentParser(
        prog="htbsctl",
        description="Reservations for cgroups on disks, by the I/O scheduler HTBS.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"htbsctl {VERSION}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for name in names:
        module = importlib.import_module(f"htbsctl.commands.{name}")
        command = commands.add_parser(
            name, help=module.SUMMARY, description=module.__doc__, allow_abbrev=False
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return top


def main(words: Sequence[str] | None = None, host: Host | None = None) -> int:
    """Run a command and return its exit code."""
    words = sys.argv[1:] if words is None else words
    known = words[:1] if words and words[0] in COMMANDS else COMMANDS
    args = parser(known).parse_args(words)
    if sys.stdout:
        # A cgroup's name may be invalid UTF-8; stderr shows it like this by default.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = args.run(host or Host(), args)
        if sys.stdout:
            sys.stdout.flush()
        return code
    except Failure as failure:
        print(f"htbsctl: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # The reader of the pipe is gone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except OSError as error:
        print(f"htbsctl: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.FAILED


def _ended(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


def entry() -> NoReturn:
    """The entry point of the installed archive."""
    # When a terminal is closed, too, the setup is reverted, such as ftrace's triggers.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _ended)
    sys.exit(main())


if __name__ == "__main__":
    entry()
