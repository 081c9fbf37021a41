"""Check whether a disk can keep its reservations, or one more."""

import argparse
from collections.abc import Callable

from htbsctl import admission, disks, promise, quantity, reservation
from htbsctl.disks import Disk
from htbsctl.failure import Exit, Failure
from htbsctl.host import Host
from htbsctl.output import as_json
from htbsctl.promise import Promise
from htbsctl.reservation import Reservation

SUMMARY = "say whether a device can keep its reservations, or one more, and what would fit"

_NEW = "the new one"
_LATENCY_MAX = 100_000_000
# The range that io.htbs accepts.
_LEAST = {"bw": 4096, "burst": 4096, "latency": 1, "iops": 1}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("device", help="a disk, a link below /dev, a mount point")
    for key in ("bw", "burst", "latency", "iops"):
        parser.add_argument(f"--{key}", metavar=key.upper(), help=f"{key} of one more reservation")
    parser.add_argument("--capacity", help="bytes/s (default: the device's capacity_bw)")
    parser.add_argument("--json", action="store_true", help="JSON; sizes are bytes, times us")


def run(host: Host, args: argparse.Namespace) -> int:
    """Print the answer; Exit.FOUND if not all of them can be kept."""
    disk = disks.one(host, args.device)
    if disks.scheduler(host, disk) != "htbs":
        raise Failure(f"{disk.name} is not on HTBS", f"htbsctl enable {args.device}")
    capacity = _capacity(host, disk, args.capacity)
    largest = disks.number(host, disk.iosched / "capacity_request")
    promises = promise.in_force(host, disk)
    new = _new(host, disk, args)
    every = promises + ([new] if new else [])
    missing = admission.shortfall(every, capacity, largest)
    answer = {
        "device": disk.name,
        "capacity_bw": capacity,
        "kept": missing is None,
        "needs": admission.least_capacity(every, largest),
        "too_much": [] if missing is None else _too_much(every, capacity, largest),
        "fits": _fits(promises, new, capacity, largest) if missing and new else {},
    }
    print(as_json(answer) if args.json else _text(answer, missing, len(every)))
    return Exit.FOUND if missing else Exit.DONE


def _capacity(host: Host, disk: Disk, given: str | None) -> int:
    capacity = quantity.rate(given) if given else disks.number(host, disk.iosched / "capacity_bw")
    if not capacity:
        raise Failure(
            f"the capacity of {disk.name} is not known",
            f"htbsctl calibrate {disk.name} measures it; or give --capacity",
        )
    return capacity


def _new(host: Host, disk: Disk, args: argparse.Namespace) -> Promise | None:
    keys = {
        key: reservation.value_of(key, text)
        for key in ("bw", "burst", "latency", "iops")
        if (text := getattr(args, key)) is not None
    }
    if not keys:
        return None
    if not {"bw", "iops"} & keys.keys():
        raise Failure("nothing to check", "give --bw or --iops", code=Exit.USAGE)
    for key, file in (("burst", "default_burst"), ("latency", "default_latency_us")):
        keys.setdefault(key, disks.number(host, disk.iosched / file))
    return promise.of(_NEW, Reservation(**keys))


def _too_much(every: list[Promise], capacity: int, largest: int) -> list[str]:
    """Return the reservations without any one of which all others can be kept."""
    return [
        each.name
        for each in every
        if admission.shortfall([other for other in every if other is not each], capacity, largest)
        is None
    ]


def _fits(promises: list[Promise], new: Promise, capacity: int, largest: int) -> dict[str, int]:
    """For each key of a new reservation, return the value with which it could be kept."""

    def good(**keys: int) -> bool:
        every = [*promises, new._replace(**keys)]
        return admission.shortfall(every, capacity, largest) is None

    found = {}
    if new.bw:
        found["bw"] = _largest(lambda value: good(bw=value), new.bw)
    else:
        found["iops"] = _largest(lambda value: good(iops=value), new.iops)
    found["burst"] = _largest(lambda value: good(burst=value), new.burst)
    found["latency"] = _smallest(lambda value: good(latency=value * 1000), new.latency // 1000)
    return {key: value for key, value in found.items() if value >= _LEAST[key]}


def _largest(good: Callable[[int], bool], above: int) -> int:
    """Return the largest good value below one that is too large; 0 if there is none."""
    low = 0
    while above - low > 1:
        middle = (low + above) // 2
        low, above = (middle, above) if good(middle) else (low, middle)
    return low if low >= 1 else 0


def _smallest(good: Callable[[int], bool], below: int) -> int:
    """Return the smallest good value above one that is too small; 0 if there is none."""
    high = _LATENCY_MAX
    if not good(high):
        return 0
    while high - below > 1:
        middle = (below + high) // 2
        below, high = (below, middle) if good(middle) else (middle, high)
    return high


def _text(answer: dict, missing: tuple[int, int, int] | None, count: int) -> str:
    name, capacity = answer["device"], quantity.rate_text(answer["capacity_bw"])
    needs = quantity.rate_text(answer["needs"])
    if missing is None:
        return f"{name} can keep all {count} reservations: they need {needs} of {capacity}"
    rate, short, within = missing
    what = (
        f"{quantity.rate_text(rate)} too much"
        if rate
        else f"{quantity.size_text(short)} too much within {quantity.time_text(within / 1000)}"
    )
    all_of_them = f"all {count} reservations"
    lines = [f"{name} cannot keep {all_of_them}: {what}; they need {needs} of {capacity}"]
    if answer["too_much"]:
        lines.append(f"dropping any one of these would be enough: {', '.join(answer['too_much'])}")
    for key, value in answer["fits"].items():
        fits = Reservation(**{key: value})
        exact = fits.exact().replace("=", " ")
        lines.append(f"it could with --{exact} instead: {fits.text()}")
    return "\n".join(lines)
