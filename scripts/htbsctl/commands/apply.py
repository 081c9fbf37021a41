"""Apply /etc/htbs/htbs.conf, once."""

import argparse
import sys

from htbsctl import keep, store
from htbsctl.failure import Exit
from htbsctl.host import Host
from htbsctl.output import as_json
from htbsctl.store import Store

SUMMARY = "apply /etc/htbs/htbs.conf to the disks and groups that exist"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--check", action="store_true", help="only check the file; apply nothing")
    parser.add_argument("--json", action="store_true", help="with --check: print its lines as JSON")


def run(host: Host, args: argparse.Namespace) -> int:
    """Print what was done. If one change fails, the others are still applied."""
    if args.check:
        kept = Store(host)
        if args.json:
            print(as_json(_kept(kept)))
        return Exit.DONE
    code = Exit.DONE
    with store.locked(host) as kept:
        for line in keep.apply(host, kept):
            failed = line.startswith(keep.FAILED)
            print(line, file=sys.stderr if failed else sys.stdout, flush=True)
            code = Exit.FAILED if failed else code
    return code


def _kept(kept: Store) -> dict[str, list[dict]]:
    """Return the lines of the file."""
    return {
        "devices": [{"device": word} | keys for word, keys in kept.devices().items()],
        "reservations": [
            {"target": target, "device": device} | promised.keys()
            for (target, device), promised in kept.reservations().items()
        ],
    }
