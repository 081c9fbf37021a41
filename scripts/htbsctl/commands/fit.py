"""Record what a group does on a disk, and propose a reservation that covers it."""

import argparse
import re
import shlex
from dataclasses import dataclass, field

from htbsctl import control, curve, disks, groups, quantity
from htbsctl.curve import Arrival, Curve
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.groups import Group
from htbsctl.host import Host
from htbsctl.output import as_json, countdown
from htbsctl.tracing import Instance

SUMMARY = "record a running group, and propose the smallest reservation that covers it"

_EVENT = re.compile(r"htbs_(arrive|complete): .* request=(\d+) now=(\d+) (.*)")
_COST = re.compile(r"\bcost=(\d+)")
_REQUEUED = re.compile(r"\brequeued=1\b")
_WIDTH = 40
_FEWEST = 20
# So many take 100 MB, and some seconds to evaluate.
_MOST = 500_000


@dataclass
class _Recording:
    """Arrivals, and the latencies of completed requests, ns."""

    arrivals: list[Arrival] = field(default_factory=list)
    latencies: list[int] = field(default_factory=list)
    pending: dict[str, int] = field(default_factory=dict)

    def add(self, line: str) -> None:
        """Add a line of the trace."""
        found = _EVENT.search(line)
        if not found:
            return
        kind, request, now, rest = found.groups()
        if kind == "arrive":
            self.arrivals.append(Arrival(int(now), int(_COST.search(rest)[1])))
            self.pending[request] = int(now)
        elif request in self.pending and not _REQUEUED.search(rest):
            self.latencies.append(int(now) - self.pending.pop(request))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("target", help="a cgroup's path, a unit, a container, a virtual machine")
    parser.add_argument("device", help="a disk, a link below /dev, a mount point")
    parser.add_argument("--seconds", type=quantity.seconds, default=60, help="how long (60)")
    parser.add_argument("--json", action="store_true", help="JSON; sizes are bytes, times us")


def run(host: Host, args: argparse.Namespace) -> int:
    """Print the trade-off and a command; the load should be that of a busy day."""
    disk, group = disks.one(host, args.device), groups.resolve(host, args.target)
    if disks.scheduler(host, disk) != "htbs":
        raise Failure(f"{disk.name} is not on HTBS", f"htbsctl enable {args.device}")
    _alone(host, group, disk)
    found = _record(host, group, disk, args.seconds)
    if len(found.arrivals) < _FEWEST:
        raise Failure(
            f"only {len(found.arrivals)} requests from {group.short(host)} in {args.seconds:g} s",
            "record for longer, while the group is busy",
        )
    curves = curve.trade_off(found.arrivals)
    best = curve.knee(curves)
    latencies = sorted(found.latencies) or [0]
    p99 = latencies[len(latencies) * 99 // 100] // 1000
    answer = {
        "group": group.short(host),
        "device": disk.name,
        "requests": len(found.arrivals),
        "mean_bw": round(curve.mean(found.arrivals)),
        "latency_p99_us": p99,
        "curves": [each._asdict() for each in curves],
        "bw": quantity.round_up(max(4096, best.bw), 1024),
        "burst": quantity.round_up(max(4096, best.burst), 1024),
        "latency": quantity.round_up(max(1, p99), 1000),
    }
    print(as_json(answer) if args.json else _text(answer, curves, best, args))
    return Exit.DONE


def _alone(host: Host, group: Group, disk: Disk) -> None:
    """Let a group's requests be counted as its own. Raises Failure if an ancestor is charged."""
    control.prepare(host, group)
    line = control.in_force(host, group, disk)
    # Groups that share the root's reservation are charged themselves, and have a line for that.
    own = disk.number in control.statistics(host, group)
    if line and line.origin == "inherited" and not own:
        raise Failure(
            f"{group.short(host)} shares the reservation of a group above it",
            "name that group, or release its reservation first",
        )


def _record(host: Host, group: Group, disk: Disk, seconds: float) -> _Recording:
    major, minor = (int(part) for part in disk.number.split(":"))
    mine = f"group == {group.inode(host)} && dev == {major << 20 | minor}"
    found = _Recording()
    with Instance(host) as instance:
        for event in ("htbs/htbs_arrive", "htbs/htbs_complete"):
            instance.record(event, mine)
        for _ in countdown("recording", seconds, 0.1):
            for line in instance.records():
                found.add(line)
            if len(found.arrivals) >= _MOST:
                break
    return found


def _text(answer: dict, curves: list[Curve], best: Curve, args: argparse.Namespace) -> str:
    largest = max(each.burst for each in curves)
    bars = [
        f"{quantity.rate_text(each.bw):>14}  {quantity.size_text(each.burst):>10}  "
        f"{'#' * max(1, round(_WIDTH * each.burst / largest))}{' <-' if each == best else ''}"
        for each in curves
    ]
    command = (
        f"    htbsctl reserve {shlex.quote(args.target)} {shlex.quote(args.device)}"
        f" --bw {quantity.exact_size(answer['bw'])} --burst {quantity.exact_size(answer['burst'])}"
        f" --latency {quantity.exact_time(answer['latency'])}"
    )
    return "\n".join(
        [
            f"{answer['group']} on {answer['device']}: {answer['requests']} requests,"
            f" {quantity.rate_text(answer['mean_bw'])} on average, 99 % within"
            f" {quantity.time_text(answer['latency_p99_us'])}",
            f"{'bandwidth':>14}  {'burst':>10}",
            *bars,
            "each line covers all arrivals; <- has the smallest product of bandwidth and burst;"
            " latency: the p99 of this measurement",
            command,
        ]
    )
