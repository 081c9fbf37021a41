"""Recordings as of a kernel with `htbs/core/policy.c`, made without a kernel.

`record()` plays random events to the C and prints its decisions as ftrace does, in the order of
`htbs/blk/elevator.c`, for `tests/model/replay.py`.
"""

import random
from collections.abc import Collection
from dataclasses import dataclass

from tests.model.reservation import SECOND, Params, Request
from tests.model.window import ONE
from tests.unit.host import WRAP, Device, Flow

MS = 10**6
GROUPS = 4
KIB = 1024


@dataclass(eq=False)
class Numbered(Request):
    """A request of the recording."""

    number: int = 0
    group: int = 0
    metadata: bool = False


class Recorder:
    """A device and its trace, as lines. The public methods are the events."""

    def __init__(self, lib, rng: random.Random, rule: str, kinds: Collection[str]):
        self.rng, self.lines, self.kinds = rng, [], kinds
        self.now = rng.randrange(SECOND)
        b_max, t_wait, seek = rng.choice([2, 5, 20]), rng.choice([MS, 10 * MS]), 5 * MS
        reorders = rng.choice([False, True])
        self.device = Device(lib, b_max, t_wait, rule, seek)
        self.device.set_rotational(reorders)
        self._tell("tunables", attached=1, policy=rule, b_max=b_max, t_wait=t_wait, seek=seek,
                   reorders=int(reorders))
        self.flows: dict[int, Flow] = {}
        for group in range(1, GROUPS + 1):
            self._join(group)
        self._in_flight: list[Numbered] = []
        self._returned: list[Numbered] = []
        self._ends = dict.fromkeys(self.flows, 0)
        self._requests = 0

    def _tell(self, name: str, **fields: int | str) -> None:
        words = " ".join(f"{key}={value}" for key, value in fields.items())
        number = len(self.lines) + 1
        self.lines.append(f"  fio-1  [000] d..2. {number}: htbs_{name}: 259:0 {words}")

    def _group(self, flow: Flow | None) -> int:
        return next((group for group, each in self.flows.items() if each is flow), 0)

    def _join(self, group: int) -> None:
        promise = self._promise()
        self.flows[group] = self.device.init_flow(promise, self.now)
        self._promised("join", group, promise)
        if promise.weight:
            self._tell("share", group=group, now=self.now, weight=promise.weight)
        if promise.max:
            self._tell("cap", group=group, now=self.now, max=promise.max)

    def _promised(self, name: str, group: int, promise: Params) -> None:
        self._tell(name, group=group, now=self.now, bw=promise.bw, burst=promise.burst,
                   latency=promise.latency, iops=promise.iops)

    def _promise(self) -> Params:
        rng = self.rng
        bw = rng.choice([200_000, 800_000, 3_000_001])
        promise = Params(bw, rng.choice([4096, 8192, 65536]),
                         rng.choice([20 * MS, 50 * MS, SECOND]),
                         rng.choice([1, 50, 100, 1000]) if "weights" in self.kinds else 0,
                         rng.choice([0, bw, 2 * bw]) if "caps" in self.kinds else 0)
        if "iops" not in self.kinds:
            return promise
        iops = rng.choice([0, 7, 40, 90])
        return promise._replace(iops=iops, bw=rng.choice([0, bw]) if iops else bw)

    def _stop(self, flow: Flow) -> None:
        """Trace that the flow is throttled, if it is and has requests pending."""
        state = flow.view()
        if flow.queue and state.throttled:
            self._tell("stop", group=self._group(flow), now=self.now, until=state.cap_end)

    def _drift(self, jump: int) -> None:
        if jump:
            self._tell("drift", now=self.now, jump=jump, drift=self.device.clock.drift)

    def _wait_ended(self, flow: Flow | None, outcome: str) -> None:
        self._tell("wait_end", group=self._group(flow), now=self.now, outcome=outcome)

    def arrive(self) -> None:
        """A request arrives, mostly sequential to the group's last one."""
        rng = self.rng
        group = rng.choice(list(self.flows))
        flow, size = self.flows[group], rng.choice([4 * KIB, 4 * KIB, 16 * KIB, 512])
        self._requests += 1
        pos = self._ends[group] if rng.random() < 0.9 else rng.randrange(1 << 30)
        sync, write = rng.random() < 0.9, group == GROUPS
        request = Numbered(size, pos, sync, write=write, number=self._requests, group=group)
        self._ends[group] = pos + request.sectors
        if "metadata" in self.kinds and rng.random() < 0.1:
            request.metadata = True
            if flow.curve.params.max:
                self._charge_first(flow, request)
                self._pass(request, len(flow.queue))
                return
        arrival = self.device.arrive(flow, request, self.now)
        if arrival.hit:
            self._wait_ended(flow, "hit")
        self._drift(arrival.jump)
        if len(flow.queue) == 1:
            self._stop(flow)
        self._tell("tag", group=group, request=request.number, now=self.now, v=arrival.v,
                   start=arrival.start, finish=arrival.start + flow.curve.params.latency,
                   sector=pos, bytes=size, write=int(write), cost=request.cost,
                   pending=len(flow.queue), arrived=request.arrived)

    def dispatch_request(self) -> None:
        """The driver asks for a request."""
        if self._returned:
            self._redispatch()
            return
        self._unthrottle()
        was_active = self.device.view().active
        choice = self.device.choose(self.now)
        if choice.timed_out:
            self._wait_ended(was_active, "timeout")
        if choice.overload_ended:
            self._tell("overload", now=self.now, begins=0)
        self._drift(choice.jump)
        if choice.held:
            writes = sum(request.write for request in self._in_flight)
            reads, window = self.device.windows
            self._tell("hold", now=self.now, reads=len(self._in_flight) - writes,
                       read_window=reads.limit // ONE, writes=writes,
                       write_window=window.limit // ONE)
        view = self.device.view()
        if choice.wait_began:
            self._tell("wait_begin", group=self._group(view.active), now=self.now,
                       until=view.wait_until)
        if choice.switched:
            self._tell("switch", group=self._group(choice.flow), now=self.now)
        if choice.flow:
            self._dispatch(choice.flow)

    def _dispatch(self, flow: Flow) -> None:
        request, overload = self.device.dispatch(flow, self.now)
        if overload:
            self._tell("overload", now=self.now, begins=1)
        self._stop(flow)
        self._dispatched(request, flow, request.start, 1)

    def _redispatch(self) -> None:
        """A requeued request is dispatched first."""
        request = self._returned.pop()
        self.device.redispatch(self.flows[request.group], request, self.now)
        self._dispatched(request, self.flows[request.group], 0, 0)

    def _dispatched(self, request: Numbered, flow: Flow, start: int, tagged: int) -> None:
        self._in_flight.append(request)
        state = flow.view()
        self._tell("dispatch", group=request.group, request=request.number, now=self.now,
                   start=start, sector=request.pos, bytes=request.size, sync=int(request.sync),
                   tagged=tagged, nearest=int(tagged and self.device.by_position),
                   run=self.device.view().run, pending=state.pending,
                   in_flight=state.in_flight)

    def complete(self) -> None:
        """A request in flight completes, or the driver gives it back."""
        if not self._in_flight:
            return
        request = self._in_flight.pop(self.rng.randrange(len(self._in_flight)))
        flow, until, requeued = self.flows[request.group], 0, self.rng.random() < 0.05
        if requeued:
            if self.device.requeue(flow, request):
                self._wait_ended(flow, "cancelled")
            self._returned.append(request)
        else:
            if request.conforming and self.now > request.due:
                self._tell("late", group=request.group, request=request.number, now=self.now,
                           late=self.now - request.due)
            if self.device.complete(flow, request, self.now):
                until = self.device.view().wait_until
        self._tell("complete", group=request.group, request=request.number, now=self.now,
                   requeued=int(requeued), in_flight=flow.view().in_flight, until=until)

    def merge(self) -> None:
        """A bio is merged into a pending request, perhaps with a second one behind it."""
        group = self.rng.choice(list(self.flows))
        flow = self.flows[group]
        if not flow.queue:
            return
        kept, gone, added = self.rng.choice(flow.queue), -1, 4 * KIB
        kept.size += added
        others = [request for request in flow.queue if request is not kept]
        if others and self.rng.random() < 0.5:
            other = self.rng.choice(others)
            gone, kept.size = other.number, kept.size + other.size
            self.device.merge(flow, kept, other)
        self._tell("merge", group=group, request=kept.number, gone=gone, sector=kept.pos,
                   bytes=kept.size, pending=len(flow.queue),
                   oldest=(flow.view().finish - flow.curve.params.latency) % WRAP)
        self.device.charge(flow, added, self.now)
        self._tell("charge", group=group, now=self.now, bytes=added)

    def charge_bypass(self) -> None:
        """The data of a write between two flushes bypasses the policy."""
        group = self.rng.choice(list(self.flows))
        self._requests += 1
        request = Numbered(64 * KIB, write=True, number=self._requests, group=group)
        self._charge_first(self.flows[group], request)
        self._returned.append(request)

    def _charge_first(self, flow: Flow, request: Numbered) -> None:
        """Charge a request that bypasses the policy."""
        self.device.charge_bypass(flow, request.size, self.now)
        self._stop(flow)
        self._tell("charge", group=request.group, now=self.now, bytes=request.size)

    def _pass(self, request: Numbered, pending: int) -> None:
        """A request that others wait for passes its group's cap; `pending` requests stay."""
        self._tell("pass", group=request.group, now=self.now, request=request.number,
                   bytes=request.size, write=int(request.write), pending=pending)
        self._returned.append(request)

    def _unthrottle(self) -> None:
        """Unthrottle all flows that are throttled no longer."""
        while (flow := self.device.unthrottle(self.now)) is not None:
            self._tell("go", group=self._group(flow), now=self.now)

    def unthrottle(self) -> None:
        """The cap timer fires."""
        at = self.device.next_unthrottle()
        if at is not None:
            self.now = max(self.now, at)
        self._unthrottle()

    def drain(self) -> None:
        """The queue has to be emptied, or no longer has to."""
        begins = self.rng.random() < 0.3
        if self.device.drain(begins):
            self._tell("drain", now=self.now, begins=int(begins))
        self._unthrottle()

    def timeout(self) -> None:
        """The idle timer fires."""
        view = self.device.view()
        if view.wait != "arrival":
            return
        self.now = max(self.now, view.wait_until)
        if self.device.timeout(self.now):
            self._wait_ended(view.active, "timeout")

    def configure(self) -> None:
        """A write to io.htbs."""
        group, promise = self.rng.choice(list(self.flows)), self._promise()
        if "weights" in self.kinds and self.rng.random() < 0.5:
            promise = promise._replace(weight=0)
        was = self.flows[group].curve.params
        weight, most = was.weight, was.max
        flow = self.flows[group]
        passing = [request for request in flow.queue if promise.max and request.metadata]
        self.device.configure(flow, promise, self.now, passing)
        for gone, request in enumerate(passing, 1):
            self._pass(request, len(flow.queue) + len(passing) - gone)
        if promise.weight != weight:
            self._tell("share", group=group, now=self.now, weight=promise.weight)
        if promise.max != most:
            self._tell("cap", group=group, now=self.now, max=promise.max)
        self._promised("config", group, promise)

    def let_pass(self) -> None:
        """Nothing happens for a while."""
        self.now += self.rng.choice([1000, 100_000, MS, 15 * MS])


USUAL = ("arrive", "arrive", "dispatch_request", "dispatch_request", "complete", "complete",
         "complete", "let_pass")
RARE = ("merge", "timeout", "configure")
CAPPED = (*RARE, "charge_bypass", "unthrottle", "unthrottle", "drain")
EVENTS = 1500


def record(lib, seed: int, rule: str = "paper", kinds: Collection[str] = ()) -> list[str]:
    """The lines of a recording; kinds: whether flows have weights, caps, iops, or metadata."""
    rng = random.Random(seed)
    recorder = Recorder(lib, rng, rule, kinds)
    rare, often = (CAPPED, 0.15) if "caps" in kinds else (RARE, 0.05)
    while len(recorder.lines) < EVENTS:
        getattr(recorder, rng.choice(rare if rng.random() < often else USUAL))()
    return recorder.lines
