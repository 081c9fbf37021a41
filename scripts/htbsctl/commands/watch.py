"""Apply what is kept, again and again: htbs.service runs it."""

import argparse
import select
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from htbsctl import groups, keep, service, store
from htbsctl.failure import Exit, Failure
from htbsctl.host import Host
from htbsctl.inotify import Directories

SUMMARY = "apply what /etc/htbs/htbs.conf keeps whenever a cgroup is made; SIGHUP applies it again"

# Seconds: systemd makes a unit's cgroup and enables its controllers by several steps.
_SETTLES = 0.1
# Seconds after which it is applied anyway: a driver may reset a queue, and a controller be disabled
# and enabled, without any cgroup being made.
_PERIOD = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""


def run(host: Host, args: argparse.Namespace) -> int:
    """Until SIGTERM. What fails is said once, not at each cgroup."""
    said: set[str] = set()
    # The signals first: a reload may come before all cgroups are watched.
    with _signals() as signals, Directories(host.path(groups.hierarchy(host))) as cgroups:
        service.ready()
        while True:
            said = _say(_apply(host), said)
            ready, _, _ = select.select([cgroups, signals], [], [], _PERIOD)
            if signals in ready and set(signals.recv(64)) - {signal.SIGHUP}:
                return Exit.DONE
            cgroups.settle(_SETTLES)


def _apply(host: Host) -> Iterator[str]:
    try:
        with store.locked(host) as kept:
            yield from keep.apply(host, kept)
    except Failure as failure:
        yield f"{keep.FAILED}{failure}"


def _say(lines: Iterator[str], said: set[str]) -> set[str]:
    """Print what is new; the failures, which are not to be said again."""
    failures = set()
    for line in lines:
        failed = line.startswith(keep.FAILED)
        if failed:
            failures.add(line)
        if not failed or line not in said:
            print(line, file=sys.stderr if failed else sys.stdout, flush=True)
    return failures


@contextmanager
def _signals() -> Iterator[socket.socket]:
    """A socket that has the numbers of the signals that came."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    with ours, theirs:
        yield ours
        signal.set_wakeup_fd(-1)
