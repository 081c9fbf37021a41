"""htbs.service applies the kept state: at boot, when a unit starts, when a disk appears."""

import os
import socket
import sys

from htbsctl.failure import Exit, Failure
from htbsctl.groups import Group
from htbsctl.host import PATIENCE_START, Host

NAME = "htbs.service"
# systemd's answers if nothing has to be done.
_UP = {"LoadState": "loaded", "UnitFileState": "enabled", "ActiveState": "active"}


def start(host: Host) -> Exit:
    """Let the service run, now and after a reboot; print a line and return Exit.FOUND if not."""
    said = host.ask("systemctl", "show", f"--property={','.join(_UP)}", NAME) or ""
    state = dict(line.split("=", 1) for line in said.splitlines())
    if state.get("LoadState") != "loaded":
        remedy = "after a reboot run htbsctl apply, or install the package htbs-tools"
        print(f"htbsctl: {NAME} is not installed: {remedy}", file=sys.stderr)
        return Exit.DONE
    # systemd would reload all of its units.
    if state == _UP:
        return Exit.DONE
    command = ("systemctl", "enable", "--quiet", "--now", NAME)
    try:
        started = host.ask(*command, patience=PATIENCE_START) is not None
    except Failure:
        started = False
    if not started:
        remedy = f"systemctl status {NAME} says why; after a reboot run htbsctl apply"
        print(f"htbsctl: {NAME} failed to start: {remedy}", file=sys.stderr)
        return Exit.FOUND
    return Exit.DONE


def account(host: Host, group: Group) -> None:
    """Let systemd keep the io controller enabled down to a cgroup.

    systemd manages cgroup.subtree_control, and would disable the controller at its next check, such
    as a daemon-reload. The setting lasts until the unit ends, or until a reboot, after which it is
    set again.
    """
    unit = group.unit or group.managed(host)
    asks = host.ask("systemctl", "show", "--property=IOAccounting", "--value", unit)
    if asks == "no":
        host.do("systemctl", "set-property", "--runtime", unit, "IOAccounting=yes")


def ready() -> None:
    """Notify systemd that the service is up (sd_notify(3)), if systemd started it."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.connect(f"\0{address[1:]}" if address.startswith("@") else address)
            notify.send(b"READY=1")
