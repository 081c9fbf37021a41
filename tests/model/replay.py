"""Replay a recording of a kernel through the specification: same tags, same choices, same waits.

    python -m tests.model.replay FILE…

A recording is ftrace's text of the htbs events (the files trace, trace_pipe or per_cpu/*/trace;
.gz, too), begun before the device switched to htbs, so that all its state is known. Events are
recorded under the device's lock; `echo counter > trace_clock` has ftrace number them over all CPUs.
Several files are merged by these numbers.

Inputs are taken from the recording: arrivals, merges, completions, changes of reservations and
tunables, and when the driver asked for a request. Decisions are compared to the nanosecond.
"""

import gzip
import re
import sys
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.model.htbs import Policy
from tests.model.reservation import Params, Request, Reservation
from tests.model.window import ONE

BACKGROUND = 0  # the group of the background and of requests without a reservation
NONE = -1
WRAP = 1 << 64  # a wait without slack may end before time began

_EVENT = re.compile(r" (\d+)(?:\.(\d+))?: htbs_(\w+): (\d+:\d+) ?(.*)$")
_LOST = re.compile(r"\[LOST (\d+) EVENTS\]")
_BUFFER = re.compile(r"entries-in-buffer/entries-written: (\d+)/(\d+)")
# They belong to the decision of the next event.
_ANNOUNCEMENTS = {"drift", "switch", "overload", "late", "stop"}
_LAST = 10


class RecordingError(ValueError):
    """The recording is incomplete; the text names the remedy."""


class Expected(NamedTuple):
    """An event as the specification has it, without fields that only the kernel knows."""

    name: str
    fields: dict[str, int | str]

    def __str__(self) -> str:
        words = " ".join(f"{key}={value}" for key, value in self.fields.items())
        return f"htbs_{self.name}: {words}"


@dataclass(frozen=True)
class Event:
    """A recorded event; number: its place in the recording, from 1; line: its text."""

    number: int
    name: str
    device: str
    fields: dict[str, int | str]
    line: str

    def __getattr__(self, key: str) -> int:
        try:
            return self.fields[key]
        except KeyError:
            raise RecordingError(
                f"event {self.number} has no {key}: it is of another version of htbs: {self.line}"
            ) from None

    def is_as(self, expected: Expected) -> bool:
        """Has the event all expected fields."""
        return self.name == expected.name and expected.fields.items() <= self.fields.items()


class MismatchError(AssertionError):
    """The recording is not what the specification says."""

    def __init__(self, recorded: list[Event], expected: list[Expected], last: Iterable[Event]):
        self.event = recorded[-1]
        lines = [f"event {self.event.number}: {self.event.line}", "recorded:"]
        lines += [f"    htbs_{event.name}: {_words(event)}" for event in recorded]
        lines += ["the specification says:"]
        lines += [f"    {each}" for each in expected] or ["    nothing"]
        lines += ["the device's last events:"]
        lines += [f"    {event.number}: {event.line}" for event in last]
        super().__init__("\n".join(lines))


def _words(event: Event) -> str:
    return " ".join(f"{key}={value}" for key, value in event.fields.items())


def read(texts: Iterable[str]) -> list[Event]:
    """The events of a recording's files, in their order."""
    found = []
    for line in (line for text in texts for line in text.splitlines()):
        if lost := _LOST.search(line):
            raise RecordingError(f"{lost[1]} events are lost: enlarge buffer_size_kb")
        if (buffer := _BUFFER.search(line)) and buffer[1] != buffer[2]:
            raise RecordingError(
                f"only {buffer[1]} of {buffer[2]} events are left: enlarge buffer_size_kb"
            )
        if event := _EVENT.search(line):
            found.append(((int(event[1]), int(event[2] or 0)), *event.groups()[2:], line.strip()))
    found.sort(key=lambda event: event[0])
    if not found:
        raise RecordingError("no htbs events: echo 1 > /sys/kernel/tracing/events/htbs/enable")
    return [
        Event(number, name, device, _fields(words), line)
        for number, (_, name, device, words, line) in enumerate(found, start=1)
    ]


def _fields(words: str) -> dict[str, int | str]:
    pairs = (word.split("=") for word in words.split())
    return {key: int(value) if value.lstrip("-").isdigit() else value for key, value in pairs}


@dataclass(eq=False)
class Traced(Request):
    """A request with its number in the recording."""

    number: int = NONE


class Device:
    """The specification of one device, fed with its events."""

    def __init__(self) -> None:
        self._policy: Policy | None = None
        self._flows: dict[int, Reservation] = {}
        self._pending: dict[int, Traced] = {}
        self._in_flight: dict[int, tuple[int, Traced]] = {}
        self._given_back: dict[int, Traced] = {}
        self._grown: tuple[int, int] | None = None
        self._announced: list[Event] = []
        self._last: deque[Event] = deque(maxlen=_LAST)

    def play(self, event: Event) -> None:
        """Replay an event and compare the decision. Raises MismatchError."""
        self._last.append(event)
        self._announced.append(event)
        if event.name in _ANNOUNCEMENTS or event.name == "wait_end" and event.outcome != "timeout":
            return
        if self._policy is None and not (event.name == "tunables" and event.attached):
            raise RecordingError(
                f"the recording begins when {event.device} is on htbs already:"
                " record first, then choose the scheduler"
            )
        recorded = [each for each in self._announced if self._concerns(each, event)]
        self._announced = []
        expected = self._uncharged(event) + self._do(event)
        same = len(recorded) == len(expected) and all(map(Event.is_as, recorded, expected))
        if not same:
            raise MismatchError(recorded, expected, self._last)

    def _concerns(self, announced: Event, event: Event) -> bool:
        """Is it of the same decision. A requeued request may be late at any time."""
        if announced.name != "late":
            return True
        known = self._in_flight.get(announced.request, (NONE, None))[1]
        return known is not None and (event.name, event.request) == ("complete", known.number)

    def _do(self, event: Event) -> list[Expected]:
        action = getattr(self, f"_on_{event.name}", None)
        if action is None:
            raise RecordingError(f"event {event.number} is unknown: {event.line}")
        return action(event)

    def _flow(self, event: Event) -> Reservation:
        if event.group == BACKGROUND:
            return self._policy.background
        try:
            return self._flows[event.group]
        except KeyError:
            raise RecordingError(
                f"event {event.number} is of a group that has not joined: {event.line}"
            ) from None

    def _group(self, flow: Reservation | None) -> int:
        """The number of a reservation in the recording."""
        return next((group for group, each in self._flows.items() if each is flow), BACKGROUND)

    def _end(self, flow: Reservation | None, outcome: str, **fields: int) -> Expected:
        return Expected("wait_end", {"group": self._group(flow), "outcome": outcome, **fields})

    def _drift(self, now: int, jump: int) -> list[Expected]:
        if not jump:
            return []
        return [Expected("drift", {"now": now, "jump": jump, "drift": self._policy.drift})]

    def _stop(self, flow: Reservation, now: int) -> list[Expected]:
        """The flow has requests pending and is throttled."""
        if not flow.queue or not flow.throttled:
            return []
        return [Expected("stop", {"group": self._group(flow), "now": now, "until": flow.cap_end()})]

    # Arrivals.

    def _on_tag(self, event: Event) -> list[Expected]:
        flow, now = self._flow(event), event.now
        request = Traced(event.bytes, event.sector, write=bool(event.write), number=event.request,
                         arrived=event.arrived)
        self._given_back.pop(event.request, None)
        arrival = self._policy.arrive(flow, request, now)
        self._pending[event.request] = request
        hit = [self._end(flow, "hit", now=now)] if arrival.hit else []
        fields = {
            "v": arrival.v, "start": arrival.start,
            "cost": request.cost, "pending": len(flow.queue),
        }  # fmt: skip
        if flow is not self._policy.background:  # which has no deadline
            fields["finish"] = arrival.start + flow.params.latency
        stop = self._stop(flow, now) if len(flow.queue) == 1 else []
        return [*hit, *self._drift(now, arrival.jump), *stop, Expected("tag", fields)]

    def _on_merge(self, event: Event) -> list[Expected]:
        kept = self._request(event, event.request)
        flow, added = self._owner(kept), event.bytes - kept.size
        charged = self._group(flow)
        if event.gone != NONE:
            gone = self._request(event, event.gone)
            del self._pending[event.gone]
            added -= gone.size
            flow = self._swallow(flow, kept, gone)
        if added:
            self._grown = (charged, added)
        if kept.pos != event.sector:
            self._policy.place(kept)
        kept.size, kept.pos = event.bytes, event.sector
        fields = {"group": self._group(flow), "pending": len(flow.queue)}
        if flow.queue and flow is not self._policy.background:
            fields["oldest"] = flow.min_start()
        return [Expected("merge", fields)]

    def _request(self, event: Event, number: int) -> Traced:
        try:
            return self._pending[number]
        except KeyError:
            raise MismatchError(
                [event], [Expected("…", {"pending": str(sorted(self._pending))})], self._last
            ) from None

    def _owner(self, request: Traced) -> Reservation:
        flows = [*self._flows.values(), self._policy.background]
        return next(flow for flow in flows if request in flow.queue)

    def _swallow(self, flow: Reservation, kept: Traced, gone: Traced) -> Reservation:
        """Merge the request `gone` into `kept`; the flow of `gone`."""
        other = self._owner(gone)
        kept.conforming |= gone.conforming
        if flow is other:
            self._policy.merge(flow, kept, gone)
        else:
            kept.due = min(kept.due, gone.due)
            kept.arrived = min(kept.arrived, gone.arrived)
            self._policy.remove(other, gone)
        return other

    def _on_charge(self, event: Event) -> list[Expected]:
        """For bytes that a merge added, or for a request at the head, which has no other event."""
        charge = self._policy.charge if self._grown else self._policy.charge_bypass
        flow = self._flow(event)
        charge(flow, event.bytes, event.now)
        stop = [] if self._grown else self._stop(flow, event.now)
        group, size = self._grown or (event.group, event.bytes)
        self._grown = None
        return [*stop, Expected("charge", {"group": group, "bytes": size})]

    def _uncharged(self, event: Event) -> list[Expected]:
        """Bytes that a merge added are charged at once."""
        if event.name == "charge" or self._grown is None:
            return []
        group, size = self._grown
        return [Expected("charge", {"group": group, "bytes": size})]

    def _on_pass(self, event: Event) -> list[Expected]:
        """A request that others wait for passes its group's cap, as if it had been requeued.

        It was pending before there was a cap, or it has just arrived and been charged.
        """
        request, flow = self._pending.pop(event.request, None), self._flow(event)
        if request is None:
            request = Traced(event.bytes, write=bool(event.write), number=event.request)
        else:
            flow = self._owner(request)
            self._policy.remove(flow, request)
        self._given_back[event.request] = request
        fields = {"group": self._group(flow), "bytes": request.size, "write": int(request.write)}
        return [Expected("pass", {**fields, "pending": len(flow.queue)})]

    # Dispatches and completions.

    def _on_dispatch(self, event: Event) -> list[Expected]:
        return self._chosen(event) if event.tagged else self._unscheduled(event)

    def _chosen(self, event: Event) -> list[Expected]:
        policy = self._policy
        expected, flow = self._choose(event)
        if flow is None:
            return expected
        request = policy.pick(flow)
        request.sync = bool(event.sync)
        if not request.size:  # it moves no data, so its length was unknown
            request.pos, request.size, request.data = event.sector, event.bytes, False
        _, overload = policy.dispatch(flow, event.now)
        if overload:
            expected.append(Expected("overload", {"now": event.now, "begins": 1}))
        expected += self._stop(flow, event.now)
        del self._pending[request.number]
        self._in_flight[request.number] = (self._group(flow), request)
        return [*expected, Expected("dispatch", {
            "group": self._group(flow), "request": request.number, "now": event.now,
            "start": request.start, "sector": request.pos, "bytes": request.size,
            "tagged": 1, "nearest": int(policy.by_position), "run": policy.run,
            "pending": len(flow.queue), "in_flight": flow.in_flight,
        })]  # fmt: skip

    def _choose(self, event: Event) -> tuple[list[Expected], Reservation | None]:
        """The driver asks for a request: the expected events, and the flow that is chosen."""
        policy, now, was_active = self._policy, event.now, self._policy.active
        expected = self._on_go(event)  # flows that had to be unthrottled before
        choice = policy.choose(now)
        expected += [self._end(was_active, "timeout", now=now)] if choice.timed_out else []
        if choice.overload_ended:
            expected.append(Expected("overload", {"now": now, "begins": 0}))
        expected += self._drift(now, choice.jump)
        if choice.held:
            expected.append(Expected("hold", {
                "now": now, "reads": policy.in_flight - policy.writes, "writes": policy.writes,
                "read_window": policy.windows[False].limit // ONE,
                "write_window": policy.windows[True].limit // ONE,
            }))  # fmt: skip
        if choice.wait_began:
            expected.append(Expected("wait_begin", {
                "group": self._group(policy.active), "now": now, "until": policy.wait_until % WRAP,
            }))  # fmt: skip
        if choice.switched:
            expected.append(Expected("switch", {"group": self._group(choice.flow), "now": now}))
        return expected, choice.flow

    def _unscheduled(self, event: Event) -> list[Expected]:
        """A request that was requeued, inserted at the head, or has no reservation."""
        flow = self._flow(event)
        fields = {"start": 0, "nearest": 0, "run": self._policy.run, "pending": 0}
        if event.in_flight:
            # A request at the head with a reservation is a write between two flushes.
            request = self._given_back.pop(event.request, None) or Traced(
                event.bytes, write=True, number=event.request
            )
            self._policy.redispatch(flow, request, event.now)
            self._in_flight[event.request] = (event.group, request)
            fields |= {"pending": len(flow.queue), "in_flight": flow.in_flight}
        return [Expected("dispatch", fields)]

    def _on_complete(self, event: Event) -> list[Expected]:
        policy, flow, now = self._policy, self._flow(event), event.now
        group, request = self._in_flight.pop(event.request, (NONE, Traced(0)))
        until = 0
        if event.requeued:
            self._given_back[event.request] = request
            waited = policy.requeue(flow, request)
            told = [self._end(flow, "cancelled", now=now)] if waited else []
        else:
            told = self._late(event, request)
            if policy.complete(flow, request, now):
                until = policy.wait_until % WRAP
        fields = {"group": group, "in_flight": flow.in_flight, "until": until}
        return [*told, Expected("complete", fields)]

    def _late(self, event: Event, request: Traced) -> list[Expected]:
        if not request.conforming or event.now <= request.due:
            return []
        late = event.now - request.due
        return [Expected("late", {"group": event.group, "now": event.now, "late": late})]

    # Waits.

    def _on_go(self, event: Event) -> list[Expected]:
        """By the timer, or as the driver asks for a request."""
        flow = self._policy.unthrottle(event.now)
        if flow is None:
            return []
        return [Expected("go", {"group": self._group(flow), "now": event.now})]

    def _on_drain(self, event: Event) -> list[Expected]:
        changed = self._policy.drain(bool(event.begins))
        return [Expected("drain", {})] if changed else []

    def _on_hold(self, event: Event) -> list[Expected]:
        return self._choose(event)[0]

    def _on_wait_begin(self, event: Event) -> list[Expected]:
        return self._choose(event)[0]

    def _on_wait_end(self, event: Event) -> list[Expected]:
        """A wait times out, by the timer or as the driver asks for a request."""
        was_active = self._policy.active
        if not self._policy.timeout(event.now):
            return []
        return [self._end(was_active, "timeout")]

    # Reservations and tunables.

    def _on_tunables(self, event: Event) -> list[Expected]:
        if event.attached:
            self._policy = Policy(
                event.b_max, event.t_wait, event.policy, event.seek, bool(event.reorders)
            )
            self._flows, self._pending = {}, {}
            self._in_flight, self._given_back = {}, {}
            return [Expected("tunables", {})]
        was_active = self._policy.active
        ended = [self._end(was_active, "cancelled")] if self._policy.cancel_wait() else []
        self._policy.b_max, self._policy.t_wait = event.b_max, event.t_wait
        self._policy.rule = event.policy
        return [*ended, Expected("tunables", {"seek": self._policy.service.seek})]

    def _on_join(self, event: Event) -> list[Expected]:
        self._flows[event.group] = self._policy.init_flow(_params(event), event.now)
        return [Expected("join", {})]

    def _on_config(self, event: Event) -> list[Expected]:
        flow = self._flow(event)
        params = _params(event)._replace(weight=flow.params.weight, max=flow.params.max)
        self._policy.configure(flow, params, event.now)
        return [Expected("config", {})]

    def _on_share(self, event: Event) -> list[Expected]:
        self._policy.set_weight(self._flow(event), event.weight)
        return [Expected("share", {})]

    def _on_cap(self, event: Event) -> list[Expected]:
        self._policy.set_cap(self._flow(event), event.max, event.now)
        return [Expected("cap", {})]

    def _on_leave(self, event: Event) -> list[Expected]:
        """An unknown group is left from an earlier time of the device with htbs."""
        left = Expected("leave", {})
        flow = self._flows.get(event.group)
        if flow is None:
            return [left]
        waited = self._policy.exit_flow(flow)
        ended = [self._end(flow, "cancelled")] if waited else []
        del self._flows[event.group]
        return [*ended, left]


def _params(event: Event) -> Params:
    return Params(event.bw, event.burst, event.latency, iops=event.iops)


def replay(events: Iterable[Event]) -> dict[str, Device]:
    """Replay a recording. Raises MismatchError or RecordingError; returns the devices."""
    devices: dict[str, Device] = {}
    for event in events:
        devices.setdefault(event.device, Device()).play(event)
    return devices


def text(path: Path) -> str:
    """The text of a file, compressed or not."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode(errors="replace")


def summary(events: list[Event]) -> str:
    """What a recording holds."""
    count = Counter(event.name for event in events)
    devices = len({event.device for event in events})
    kinds = ", ".join(f"{number} {name}" for name, number in count.most_common())
    return f"{len(events)} events of {devices} device(s): {kinds}"


def main(paths: list[str]) -> int:
    """Replay a recording and print what it holds, or what is wrong."""
    if not paths or any(path.startswith("-") for path in paths):
        print("usage: python -m tests.model.replay FILE…", file=sys.stderr)
        return 2
    try:
        events = read(text(Path(path)) for path in paths)
        replay(events)
    except (OSError, RecordingError, MismatchError) as error:
        print(f"replay: {error}", file=sys.stderr)
        return 1
    print(f"as specified: {summary(events)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
