"""Latencies by group while top runs: ftrace's hist triggers count them in the kernel.

A request's latency is the time from htbs_arrive to htbs_complete, as in a reservation. Buckets are
1 us wide below 1 ms, 64 us below 64 ms, and 16 ms above.
"""

import os
import re
from collections import Counter

from htbsctl.failure import Failure
from htbsctl.host import Host
from htbsctl.tracing import Instance

_NAME = "htbsctl_latency"
# u32 has the size of dev_t, which synthetic events do not know.
_FIELDS = "u32 dev; u64 group; u64 lat"
_ARRIVE = "hist:keys=dev,request:t0=now:size=16384"
_COMPLETE = (
    "hist:keys=dev,request:lat=now-$t0:size=16384"
    ":onmatch(htbs.htbs_arrive).{event}(dev,group,$lat) if requeued == 0"
)
# Nanoseconds: the width of a bucket, and up to where it is used.
_TIERS = ((1_000, 0, 1_000_000), (64_000, 1_000_000, 64_000_000), (16_000_000, 64_000_000, 1 << 62))
_LINE = re.compile(r"\{ dev: +(\d+), group: +(\d+), lat: ~ \d+-(\d+) +\} hitcount: +(\d+)")

#: By a disk's number and a group's inode: the upper end of a bucket in ns, and the count.
Counts = dict[tuple[str, int], Counter]


class Latencies(Instance):
    """A context in which latencies are counted."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._name = f"{_NAME}_{os.getpid()}"
        self._last: Counts = {}

    def __enter__(self) -> "Latencies":
        """Set the triggers. Raises Failure."""
        try:
            super().__enter__()
            self.define(self._name, _FIELDS)
            self.trigger("htbs/htbs_arrive", _ARRIVE)
            self.trigger("htbs/htbs_complete", _COMPLETE.format(event=self._name))
            for width, low, high in _TIERS:
                self.trigger(
                    f"synthetic/{self._name}",
                    f"hist:keys=dev,group,lat.buckets={width}:size=16384"
                    f" if lat >= {low} && lat < {high}",
                )
        except BaseException as error:
            self.__exit__()
            if isinstance(error, Failure):
                remedy = f"{error.remedy}, or use --no-latency".removeprefix(", or ")
                raise Failure(f"cannot measure latencies: {error.what}", remedy) from None
            raise
        return self

    def since_last(self) -> Counts:
        """Return what was counted since the last call."""
        now: Counts = {}
        text = self.histogram(f"synthetic/{self._name}")
        for device, group, end, hits in _LINE.findall(text):
            number = f"{int(device) >> 20}:{int(device) & 0xFFFFF}"
            now.setdefault((number, int(group)), Counter())[int(end) + 1] += int(hits)
        new = {key: counter - self._last.get(key, Counter()) for key, counter in now.items()}
        self._last = now
        # A full map accepts no new buckets, so empty it.
        if re.search("Dropped: [1-9]", text):
            self.clear(f"synthetic/{self._name}")
            self._last = {}
        return new


def percentile(counter: Counter, part: float) -> int | None:
    """Return the ns within which a part of all requests completed; None if there were none."""
    rest = part * counter.total()
    for end in sorted(counter):
        rest -= counter[end]
        if rest <= 0:
            return end
    return None
