"""Replay a recording of a kernel through the core on the host: same choices, deadlines and waits.

    python -m tests.vm.replay FILE…

So the replay checks what the elevator tells the core, and when: each request, merge, requeue and
change of a reservation. A recording is ftrace's text of the htbs events (the files trace,
trace_pipe or per_cpu/*/trace; .gz, too). It has to begin before the device switches to htbs, so
that the whole state of the device is known. Events are recorded under the device's lock; with `echo
counter > trace_clock` ftrace numbers them across all CPUs. Several files are merged by these
numbers.

The inputs come from the recording: arrivals, merges, completions, changes of reservations and
tunables, and when the driver asked for a request. Decisions are compared to the nanosecond.
"""

import gzip
import re
import sys
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.model.reservation import Params
from tests.unit import host
from tests.unit.host import WRAP, CSent, Flow, Request

BACKGROUND = 0  # the group of the background and of requests without a reservation
NONE = -1
ROOT = 2  # its reservation is the pool's
WINDOW_ONE = 1 << 32

_EVENT = re.compile(r" (\d+)(?:\.(\d+))?: htbs_(\w+): (\d+:\d+) ?(.*)$")
_LOST = re.compile(r"\[LOST (\d+) EVENTS\]")
_BUFFER = re.compile(r"entries-in-buffer/entries-written: (\d+)/(\d+)")
# These belong to the decision of the next event.
_ANNOUNCEMENTS = {"switch", "overload", "late", "stop"}
_LAST = 10
_SECTOR = 512


class RecordingError(ValueError):
    """The recording is incomplete; the text names the remedy."""


class Expected(NamedTuple):
    """An event of the core, without the fields that only the kernel knows."""

    name: str
    fields: dict[str, int | str]

    def __str__(self) -> str:
        words = " ".join(f"{key}={value}" for key, value in self.fields.items())
        return f"htbs_{self.name}: {words}"


@dataclass(frozen=True)
class Event:
    """A recorded event; number: its position in the recording, from 1; line: its text."""

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
        """Return true if the event has all expected fields."""
        return self.name == expected.name and expected.fields.items() <= self.fields.items()


class MismatchError(AssertionError):
    """The recording differs from what the core does."""

    def __init__(self, recorded: list[Event], expected: list[Expected], last: Iterable[Event]):
        self.event = recorded[-1]
        lines = [f"event {self.event.number}: {self.event.line}", "recorded:"]
        lines += [f"    htbs_{event.name}: {_words(event)}" for event in recorded]
        lines += ["the core says:"]
        lines += [f"    {each}" for each in expected] or ["    nothing"]
        lines += ["the device's last events:"]
        lines += [f"    {event.number}: {event.line}" for event in last]
        super().__init__("\n".join(lines))


def _words(event: Event) -> str:
    return " ".join(f"{key}={value}" for key, value in event.fields.items())


def read(texts: Iterable[str]) -> list[Event]:
    """Return the events of a recording's files, in order."""
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


@cache
def _library():
    return host.build()


@dataclass(eq=False)
class Traced(Request):
    """A request with its number in the recording; urgent: the end of its wait, if it is urgent."""

    number: int = NONE
    urgent: int | None = None


class Device:
    """The core for one device, to which the device's events are fed."""

    def __init__(self) -> None:
        self._policy: host.Device | None = None
        self._flows: dict[int, Flow] = {}
        self._pending: dict[int, Traced] = {}
        self._in_flight: dict[int, tuple[int, Traced]] = {}
        self._given_back: dict[int, Traced] = {}
        self._changes: dict[int, dict[str, int]] = {}
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
        expected = self._do(event)
        same = len(recorded) == len(expected) and all(map(Event.is_as, recorded, expected))
        if not same:
            raise MismatchError(recorded, expected, self._last)

    def _concerns(self, announced: Event, event: Event) -> bool:
        """Return true if both belong to one decision.

        A requeued request may be late at any time.
        """
        if announced.name != "late":
            return True
        known = self._in_flight.get(announced.request, (NONE, None))[1]
        return known is not None and (event.name, event.request) == ("complete", known.number)

    def _do(self, event: Event) -> list[Expected]:
        action = getattr(self, f"_on_{event.name}", None)
        if action is None:
            raise RecordingError(f"event {event.number} is unknown: {event.line}")
        return action(event)

    def _flow(self, event: Event) -> Flow:
        if event.group == BACKGROUND:
            return self._policy.background
        try:
            return self._flows[event.group]
        except KeyError:
            raise RecordingError(
                f"event {event.number} is of a group that has not joined: {event.line}"
            ) from None

    def _group(self, flow: Flow | None) -> int:
        """Return the group's number in the recording."""
        return next((group for group, each in self._flows.items() if each is flow), BACKGROUND)

    def _end(self, flow: Flow | None, outcome: str, **fields: int) -> Expected:
        return Expected("wait_end", {"group": self._group(flow), "outcome": outcome, **fields})

    def _stop(self, flow: Flow, now: int) -> list[Expected]:
        """Return a stop event if the flow has requests pending and is throttled."""
        view = flow.view()
        if not view.pending or not view.throttled:
            return []
        return [Expected("stop", {"group": self._group(flow), "now": now, "until": view.cap_end})]

    # Arrivals.

    def _on_arrive(self, event: Event) -> list[Expected]:
        flow, now = self._flow(event), event.now
        request = Traced(event.bytes, event.sector, bool(event.sync), bool(event.write),
                         number=event.request)  # fmt: skip
        self._given_back.pop(event.request, None)
        arrival = self._policy.arrive(flow, request, now)
        self._pending[event.request] = request
        hit = [self._end(flow, "hit", now=now)] if arrival.hit else []
        pending = flow.view().pending
        stop = self._stop(flow, now) if pending == 1 else []
        fields = {"cost": request.cost, "pending": pending}
        return [*hit, *stop, Expected("arrive", fields)]

    def _on_merge(self, event: Event) -> list[Expected]:
        kept = self._request(event, event.request)
        flow = self._owner(kept)
        moved = kept.pos != event.sector
        kept.size, kept.pos = event.bytes, event.sector
        if event.gone != NONE:
            gone = self._request(event, event.gone)
            del self._pending[event.gone]
            self._swallow(flow, kept, gone)
            flow = self._flow(event)
        self._policy.grow(flow, kept, 0)
        if moved:
            self._policy.place(kept)
        fields = {"group": self._group(flow), "pending": flow.view().pending}
        return [Expected("merge", fields)]

    def _request(self, event: Event, number: int) -> Traced:
        try:
            return self._pending[number]
        except KeyError:
            raise MismatchError(
                [event], [Expected("…", {"pending": str(sorted(self._pending))})], self._last
            ) from None

    def _owner(self, request: Traced) -> Flow:
        flows = [*self._flows.values(), self._policy.background]
        return next(flow for flow in flows if request in flow.queue)

    def _swallow(self, flow: Flow, kept: Traced, gone: Traced) -> None:
        """Merge the request `gone` into `kept`, whose size is already that of both."""
        other = self._owner(gone)
        if flow is other:
            kept.size -= gone.size
            self._policy.merge(flow, kept, gone)
        else:
            self._policy.remove(other, gone)

    def _on_charge(self, event: Event) -> list[Expected]:
        """A request was inserted at the head, or passes a cap."""
        flow = self._flow(event)
        self._policy.charge_bypass(flow, event.bytes, event.now)
        return [*self._stop(flow, event.now), Expected("charge", {})]

    def _on_pass(self, event: Event) -> list[Expected]:
        """A request that others wait for passes its group's cap as if it had been requeued.

        Either it was pending before there was a cap, or it has just arrived and been charged.
        Without a cap the request is urgent.
        """
        request, flow = self._pending.pop(event.request, None), self._flow(event)
        if request is None:
            request = Traced(event.bytes, write=bool(event.write), number=event.request)
            if not flow.params.max:
                request.urgent = self._policy.admit_urgent(request.cost, event.now)
                if request.urgent is None:
                    return []
        else:
            flow = self._owner(request)
            self._policy.remove(flow, request)
        self._given_back[event.request] = request
        fields = {"group": self._group(flow), "bytes": request.size, "write": int(request.write)}
        return [Expected("pass", {**fields, "pending": flow.view().pending})]

    # Dispatches and completions.

    def _on_dispatch(self, event: Event) -> list[Expected]:
        return self._chosen(event) if event.scheduled else self._unscheduled(event)

    def _chosen(self, event: Event) -> list[Expected]:
        policy = self._policy
        expected, flow = self._choose(event)
        if flow is None:
            return expected
        picked = flow.nearest() if policy.nearest else flow.queue[0]
        if not picked.size:  # A request without data, whose length was unknown.
            picked.pos, picked.size, picked.data = event.sector, event.bytes, False
        request, overload = policy.dispatch(flow, event.now)
        if overload:
            expected.append(Expected("overload", {"now": event.now, "begins": 1}))
        expected += self._stop(flow, event.now)
        del self._pending[request.number]
        self._in_flight[request.number] = (self._group(flow), request)
        view = flow.view()
        return [*expected, Expected("dispatch", {
            "group": self._group(flow), "request": request.number, "now": event.now,
            "due": request.due, "conforms": int(request.conforms), "sector": request.pos,
            "bytes": request.size, "scheduled": 1, "nearest": int(policy.nearest),
            "run": policy.view().run, "pending": view.pending, "in_flight": view.in_flight,
        })]  # fmt: skip

    def _choose(self, event: Event) -> tuple[list[Expected], Flow | None]:
        """The driver asks for a request: return the expected events and the chosen flow."""
        policy, now, was_active = self._policy, event.now, self._policy.view().active
        expected = self._on_go(event)  # flows that had to be unthrottled before
        choice = policy.choose(now)
        view = policy.view()
        expected += [self._end(was_active, "timeout", now=now)] if choice.timed_out else []
        if choice.overload_ended:
            expected.append(Expected("overload", {"now": now, "begins": 0}))
        if choice.held:
            expected.append(Expected("hold", {
                "now": now, "read_window": policy.window.value // WINDOW_ONE,
                "write_quota": policy.quota.limit.value, "until": view.held_until,
            }))  # fmt: skip
        if choice.wait_began:
            expected.append(Expected("wait_begin", {
                "group": self._group(view.active), "now": now, "until": view.wait_until,
            }))  # fmt: skip
        if choice.switched:
            expected.append(Expected("switch", {"group": self._group(choice.flow), "now": now}))
        return expected, choice.flow

    def _unscheduled(self, event: Event) -> list[Expected]:
        """A request that was requeued or inserted at the head, or has no reservation."""
        flow = self._flow(event)
        fields = {"nearest": 0, "run": self._policy.view().run, "pending": 0}
        if event.in_flight:
            # A request at the head that has a reservation is a write between two flushes.
            request = self._given_back.pop(event.request, None) or Traced(
                event.bytes, write=True, number=event.request
            )
            if request.urgent is not None:
                if not self._policy.urgent_goes(request.cost, request.urgent, event.now):
                    return []
                request.urgent = None
            sent = request.sent or CSent(due=(event.now + flow.params.latency) % WRAP)
            sent.cost, sent.flags = request.cost, sent.flags | CSent.FAR
            sent.flags |= CSent.WRITE if request.write else 0
            sent.at, request.sent = event.now, sent
            self._policy.redispatch(flow, request, event.now)
            self._in_flight[event.request] = (event.group, request)
            view = flow.view()
            fields |= {"due": sent.due, "pending": view.pending, "in_flight": view.in_flight}
        return [Expected("dispatch", fields)]

    def _on_complete(self, event: Event) -> list[Expected]:
        policy, flow, now = self._policy, self._flow(event), event.now
        group, request = self._in_flight.pop(event.request, (NONE, Traced(0)))
        if request.sent:
            _as_kept(request.sent, now)
        until = 0
        if event.requeued:
            self._given_back[event.request] = request
            told = [self._end(flow, "cancelled", now=now)] if policy.requeue(flow, request) else []
        else:
            told = self._late(event, request)
            if policy.complete(flow, request, now):
                until = policy.view().wait_until
        fields = {"group": group, "in_flight": flow.view().in_flight, "until": until}
        return [*told, Expected("complete", fields)]

    def _late(self, event: Event, request: Traced) -> list[Expected]:
        if not request.conforms or event.now <= request.due:
            return []
        late = event.now - request.due
        return [Expected("late", {"group": event.group, "now": event.now, "late": late})]

    # Waits.

    def _on_go(self, event: Event) -> list[Expected]:
        """A flow is unthrottled, by the timer or because the driver asks for a request."""
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
        """A wait times out, by the timer or because the driver asks for a request."""
        was_active = self._policy.view().active
        if not self._policy.timeout(event.now):
            return []
        return [self._end(was_active, "timeout")]

    # Reservations and tunables.

    def _on_tunables(self, event: Event) -> list[Expected]:
        if event.attached:
            self._policy = host.Device(
                _library(), bool(event.rotational), 2 * event.position, event.t_wait
            )
            self._flows, self._pending = {}, {}
            self._in_flight, self._given_back = {}, {}
            return [Expected("tunables", {})]
        was_active = self._policy.view().active
        ended = [self._end(was_active, "cancelled")] if self._policy.cancel_wait() else []
        self._policy.set_t_wait(event.t_wait)
        self._policy.set_late(event.late_one_in, event.late_one_in_writes)
        return [*ended, Expected("tunables", {"position": self._policy.service.position})]

    def _on_join(self, event: Event) -> list[Expected]:
        changes = event.fields.get("changes", {})
        params = _params(event)._replace(**changes)
        flow = self._policy.init_flow(None if event.pool else params, event.now)
        if event.pool == ROOT:
            self._policy.configure_pool(flow, params, event.now)
        self._flows[event.group] = flow
        return [Expected("join", {})]

    def _on_config(self, event: Event) -> list[Expected]:
        if event.group not in self._flows:  # it has no requests; its join event has the rest
            return [Expected("config", {})]
        flow = self._flow(event)
        was = flow.params if event.pool == ROOT else flow.own
        rest = {"weight": was.weight, "max": was.max} if was else {}
        params = _params(event)._replace(**rest | event.fields.get("changes", {}))
        if event.pool == ROOT:
            self._policy.configure_pool(flow, params, event.now)
        else:
            self._policy.configure(flow, None if event.pool else params, event.now)
        return [Expected("config", {})]

    def _on_share(self, event: Event) -> list[Expected]:
        """The weight of a reservation that ends; others are part of a config or join event."""
        if not event.fields.get("told"):
            self._policy.set_weight(self._flow(event), event.weight)
        return [Expected("share", {})]

    def _on_cap(self, event: Event) -> list[Expected]:
        if not event.fields.get("told"):
            self._policy.set_cap(self._flow(event), event.max, event.now)
        return [Expected("cap", {})]

    def _on_leave(self, event: Event) -> list[Expected]:
        """A group that leaves. An unknown one stems from an earlier time of the device on htbs."""
        left = Expected("leave", {})
        flow = self._flows.get(event.group)
        if flow is None:
            return [left]
        waited = self._policy.exit_flow(flow)
        ended = [self._end(flow, "cancelled")] if waited else []
        del self._flows[event.group]
        return [*ended, left]


def _as_kept(sent: CSent, now: int) -> None:
    """Reduce it to what is kept until the completion: htbs_rq_set_sent() and htbs_unpack_sent()."""
    units = ((now >> 10) - (sent.at >> 10)) % (1 << 32)
    sent.at = (now - (units << 10)) % WRAP
    sent.cost = sent.cost // _SECTOR * _SECTOR


def _gather(events: list[Event]) -> None:
    """Attach weight and cap events to the config event after them, or the join event before them.

    These events have the same time.
    """
    for place, event in enumerate(events):
        if event.name not in ("config", "join"):
            continue
        changes = {}
        step = -1 if event.name == "config" else 1
        near = place + step
        while 0 <= near < len(events):
            other = events[near]
            near += step
            if other.device != event.device:
                continue
            if other.name not in ("share", "cap") or (other.group, other.now) != (
                event.group, event.now
            ):  # fmt: skip
                break
            other.fields["told"] = 1
            changes |= {"weight": other.weight} if other.name == "share" else {"max": other.max}
        event.fields["changes"] = changes


def _params(event: Event) -> Params:
    return Params(event.bw, event.burst, event.latency, iops=event.iops)


def replay(events: Iterable[Event]) -> dict[str, Device]:
    """Replay a recording and return the devices. Raises MismatchError or RecordingError."""
    devices: dict[str, Device] = {}
    events = list(events)
    _gather(events)
    for event in events:
        devices.setdefault(event.device, Device()).play(event)
    return devices


def text(path: Path) -> str:
    """Return the text of a file, compressed or not."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode(errors="replace")


def summary(events: list[Event]) -> str:
    """Describe the content of a recording."""
    count = Counter(event.name for event in events)
    devices = len({event.device for event in events})
    kinds = ", ".join(f"{number} {name}" for name, number in count.most_common())
    return f"{len(events)} events of {devices} device(s): {kinds}"


def main(paths: list[str]) -> int:
    """Replay a recording and print its content, or the error."""
    if not paths or any(path.startswith("-") for path in paths):
        print("usage: python -m tests.vm.replay FILE…", file=sys.stderr)
        return 2
    try:
        events = read(text(Path(path)) for path in paths)
        replay(events)
    except (OSError, RecordingError, MismatchError) as error:
        print(f"replay: {error}", file=sys.stderr)
        return 1
    print(f"as the core says: {summary(events)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
