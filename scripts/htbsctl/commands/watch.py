"""Apply the kept state whenever a cgroup is created: htbs.service runs it."""

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

SUMMARY = "apply /etc/htbs/htbs.conf whenever a cgroup is created, and at SIGHUP"

# Seconds: systemd takes several steps to create a unit's cgroup and enable its controllers.
_SETTLES = 0.1
# Seconds after which it is applied in any case: a driver may reset a queue, or a controller may be
# disabled and enabled, without a new cgroup.
_PERIOD = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""


def run(host: Host, args: argparse.Namespace) -> int:
    """Run until SIGTERM. A failure is printed once, not for each cgroup."""
    said: set[str] = set()
    # Signals come first, because a reload may come before all cgroups are watched.
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
    """Print new lines; return the failures, which are not printed again."""
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
    """Yield a socket that receives the numbers of signals."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    with ours, theirs:
        yield ours
        signal.set_wakeup_fd(-1)
