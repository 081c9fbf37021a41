"""The core library on the host: the module's own sources, compiled for ctypes.

`build()` compiles and loads the library. `Device` calls `htbs/core/policy.c` and queues the
requests of each flow in the order of arrival, as the elevator does. Its methods have the names of
the functions in `include/htbs/core`.
"""

import ctypes
import os
import subprocess
from collections.abc import Sequence
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_bool,
    c_int,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from tests.model.reservation import COST_MIN, Params

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "build/linux-source/tools"
LIBRARY = ROOT / "build/host/libhtbs.so"
# The core library, as in the module.
CORE = tuple(sorted((ROOT / "htbs/core").glob("*.c")))
FLAGS = ("-shared", "-fPIC", "-std=gnu11", "-fgnu89-inline", "-O1", "-g", "-Wall", "-Wextra",
         "-Wno-unused-parameter", "-Werror")

WRAP = 1 << 64
WAITS = (None, "service", "arrival")
NEAREST = 2  # enum htbs_order
DEFAULTS = Params(1 << 20, 1 << 20, 10**9)  # of groups without a reservation, and the background


class CParams(Structure):
    """struct htbs_params."""

    _fields_ = [("bw", c_uint64), ("burst", c_uint64), ("latency", c_uint64),
                ("weight", c_uint32), ("max", c_uint64), ("iops", c_uint32)]


class CArrival(Structure):
    """struct htbs_arrival."""

    _fields_ = [("hit", c_bool), ("wait_shortened", c_bool)]


class CChoice(Structure):
    """struct htbs_choice."""

    _fields_ = [("flow", c_void_p), ("order", c_int), ("switched", c_bool),
                ("wait_began", c_bool), ("timed_out", c_bool), ("overload_ended", c_bool),
                ("held", c_bool)]


class CExtent(Structure):
    """struct htbs_extent."""

    _fields_ = [("arrived", c_uint64), ("pos", c_uint64), ("sectors", c_uint32),
                ("cost", c_uint32), ("sync", c_bool), ("write", c_bool)]


class CSent(Structure):
    """struct htbs_sent."""

    _fields_ = [("at", c_uint64), ("due", c_uint64), ("cost", c_uint32), ("flags", c_uint8)]

    CONFORMS, WRITE, FAR, PACED, BESIDE = 1, 2, 4, 8, 16  # HTBS_SENT_*


class CServiceTime(Structure):
    """struct htbs_service_time."""

    _fields_ = [("position", c_uint64), ("deviation", c_uint64), ("stream", c_uint64),
                ("part", c_uint32)]


class CLimit(Structure):
    """struct htbs_limit."""

    _fields_ = [("value", c_uint64), ("least", c_uint64), ("most", c_uint64),
                ("threshold", c_uint64), ("unjudged_since", c_uint64), ("doubted", c_uint64),
                ("excess", c_int64), ("rarity", c_uint32), ("part", c_uint32), ("full", c_bool)]


class CQuota(Structure):
    """struct htbs_quota."""

    _fields_ = [("limit", CLimit), ("tokens", c_int64), ("rest", c_uint32), ("filled", c_uint64),
                ("bytes", c_uint64), ("since", c_uint64), ("interval", c_uint64),
                ("used", c_uint64), ("holds", c_bool)]


class CShortfall(Structure):
    """struct htbs_shortfall."""

    _fields_ = [("bw", c_uint64), ("bytes", c_uint64), ("within", c_uint64)]


class CVolume(Structure):
    """struct htbs_volume."""

    _fields_ = [("bytes", c_uint64), ("nano", c_uint32)]


class CAdmission(Structure):
    """struct htbs_admission."""

    _fields_ = [("capacity", c_uint64), ("request", c_uint32), ("rate", c_uint64),
                ("t", c_uint64), ("due", CVolume), ("served", CVolume), ("shortfall", CShortfall)]


class PolicyView(Structure):
    """struct host_policy_view."""

    _fields_ = [("active", c_void_p), *((name, c_uint64) for name in (
        "run", "wait", "wait_until", "held", "held_until", "has_work", "pending", "in_flight",
        "busy", "overload", "surplus", "load", "deadline_count", "background_due",
        "bound", "margin", "seeks"))]


class FlowView(Structure):
    """struct host_flow_view."""

    _fields_ = [(name, c_uint64) for name in (
        "pending", "in_flight", "think", "sweep", "share", "relaxed", "reach_unhindered", "start",
        "deadline", "tag", "cap_end", "throttled", "backlogged", "sequential")]


MIRRORS = {"params": CParams, "arrival": CArrival, "choice": CChoice, "extent": CExtent,
           "sent": CSent, "service_time": CServiceTime, "quota": CQuota,
           "window": CLimit,
           "admission": CAdmission}

PROTOTYPES = {
    "htbs_params_valid": (c_bool, POINTER(CParams)),
    "htbs_policy_init": (None, c_void_p, c_void_p, c_bool, c_uint64, c_uint64),
    "htbs_flow_init": (None, c_void_p, c_void_p, POINTER(CParams), c_uint64),
    "htbs_policy_configure": (None, c_void_p, c_void_p, POINTER(CParams), c_uint64),
    "htbs_policy_configure_pool": (None, c_void_p, c_void_p, POINTER(CParams), c_uint64),
    "htbs_policy_exit_flow": (c_bool, c_void_p, c_void_p),
    "htbs_flow_as_new": (c_bool, c_void_p, c_uint64),
    "host_arrive": (None, c_void_p, c_void_p, c_uint64, POINTER(CExtent), POINTER(CArrival)),
    "host_dispatch_arriving": (c_uint32, c_void_p, c_void_p, c_uint64, POINTER(CExtent),
                               POINTER(CSent)),
    "host_set_head": (None, c_void_p, c_void_p, POINTER(CExtent)),
    "htbs_policy_hold_for_tag": (None, c_void_p),
    "htbs_policy_choose": (None, c_void_p, c_uint64, POINTER(CChoice)),
    "htbs_policy_dispatch": (c_bool, c_void_p, c_void_p, c_uint64, POINTER(CExtent),
                             POINTER(CSent)),
    "htbs_policy_remove": (None, c_void_p, c_void_p),
    "htbs_policy_complete": (c_bool, c_void_p, c_void_p, c_uint64, POINTER(CSent)),
    "htbs_policy_requeue": (c_bool, c_void_p, c_void_p, POINTER(CSent)),
    "htbs_policy_redispatch": (None, c_void_p, c_void_p, POINTER(CSent)),
    "htbs_policy_admit_urgent": (c_bool, c_void_p, c_uint64, c_uint32, POINTER(c_uint64)),
    "htbs_policy_urgent_goes": (c_bool, c_void_p, c_uint64, c_uint32, c_uint64),
    "htbs_policy_charge_bypass": (None, c_void_p, c_void_p, c_uint64, c_uint32),
    "htbs_policy_set_cap": (None, c_void_p, c_void_p, c_uint64, c_uint64),
    "htbs_policy_drain": (c_bool, c_void_p, c_bool),
    "htbs_policy_unthrottle": (c_void_p, c_void_p, c_uint64),
    "htbs_policy_next_unthrottle": (c_bool, c_void_p, POINTER(c_uint64)),
    "htbs_policy_timer": (c_bool, c_void_p, POINTER(c_uint64)),
    "htbs_policy_timeout": (c_bool, c_void_p, c_uint64),
    "htbs_policy_cancel_wait": (c_bool, c_void_p),
    "htbs_policy_oldest_arrival": (c_bool, c_void_p, POINTER(c_uint64)),
    "htbs_admission_begin": (None, POINTER(CAdmission), c_uint64, c_uint32),
    "htbs_admission_add": (None, POINTER(CAdmission), POINTER(CParams)),
    "htbs_admission_sum": (c_uint64, c_uint64, c_uint64),
    "htbs_admission_requests": (c_uint32, POINTER(CParams), c_uint32),
    "htbs_admission_left": (c_uint64, POINTER(CAdmission)),
    "htbs_admission_end": (c_bool, POINTER(CAdmission)),
    "host_policy_view": (None, c_void_p, POINTER(PolicyView)),
    "host_flow_view": (None, c_void_p, POINTER(FlowView)),
    "host_policy_depth": (POINTER(CServiceTime * 6), c_void_p),
    "host_policy_service": (POINTER(CServiceTime), c_void_p),
    "host_policy_quota": (POINTER(CQuota), c_void_p),
    "host_policy_window": (POINTER(CLimit), c_void_p),
    "host_policy_believe_claim": (None, c_void_p),
    "host_policy_set_t_wait": (None, c_void_p, c_uint64),
    "htbs_policy_set_late": (None, c_void_p, c_uint32, c_uint32),
    "host_flow_set_weight": (None, c_void_p, c_uint32),
}


def compile_library(library: Path, sources: Sequence[Path], includes: Sequence[Path],
                    defines: Sequence[str] = (), core: Sequence[Path] = CORE) -> None:
    """Compile the core library, or another `core`, together with `sources`."""
    rbtree = TOOLS / "lib/rbtree.c"
    if not rbtree.exists():
        raise FileNotFoundError(f"{rbtree.relative_to(ROOT)} is missing: run scripts/setup")
    library.parent.mkdir(parents=True, exist_ok=True)
    includes = (ROOT / "tests/unit/include", TOOLS / "include", ROOT / "include", *includes)
    # Test processes that run in parallel each build the library; any of the builds can be used.
    new = library.with_suffix(f".{os.getpid()}")
    subprocess.run(["gcc", *FLAGS, *(f"-D{name}" for name in defines),
                    *(f"-I{path}" for path in includes),
                    *map(str, [*core, *sources, rbtree]), "-o", str(new)], check=True)
    new.replace(library)


def build() -> ctypes.CDLL:
    """Compile the core library and load it. Set prototypes, and compare the sizes of structures."""
    compile_library(LIBRARY, [ROOT / "tests/unit/host.c"], [])
    lib = ctypes.CDLL(str(LIBRARY))
    for name, (result, *arguments) in PROTOTYPES.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    for name, mirror in MIRRORS.items():
        if size_of(lib, name) != ctypes.sizeof(mirror):
            raise TypeError(f"struct htbs_{name} changed: bring {mirror.__name__} in host.py up "
                            "to date")
    return lib


def size_of(lib: ctypes.CDLL, name: str) -> int:
    """Return the size of `struct htbs_<name>` in bytes."""
    return c_size_t.in_dll(lib, f"host_size_{name}").value


def memory(lib: ctypes.CDLL, name: str) -> ctypes.Array:
    """Return memory for a `struct htbs_<name>` that is opaque to Python."""
    return ctypes.create_string_buffer(size_of(lib, name))


@dataclass(eq=False)
class Request:
    """A request, and what is kept of it from its dispatch on."""

    size: int
    pos: int = 0
    sync: bool = True
    write: bool = False
    placed: int = 0  # order of insertion, for requests with the same position
    arrived: int = 0
    data: bool = True  # it moves data; otherwise it costs COST_MIN, whatever its length
    sent: CSent | None = None

    @property
    def sectors(self) -> int:
        """Length in sectors."""
        return self.size // 512

    @property
    def cost(self) -> int:
        """Bytes that are charged."""
        return max(self.size, COST_MIN) if self.data else COST_MIN

    @property
    def conforms(self) -> bool:
        """Return true if it was entitled when it arrived. For a dispatched request."""
        return bool(self.sent.flags & CSent.CONFORMS)

    @property
    def due(self) -> int:
        """When it is due. For a dispatched request."""
        return self.sent.due

    def extent(self) -> CExtent:
        """Return what the policy has to know of it."""
        return CExtent(self.arrived % WRAP, self.pos, self.sectors, self.cost, self.sync,
                       self.write)


def _c_params(params: Params | None) -> CParams | None:
    return CParams(*params) if params else None


class Choice(NamedTuple):
    """The flow whose request is to be dispatched; None: of none."""

    flow: "Flow | None"
    switched: bool
    wait_began: bool
    timed_out: bool
    overload_ended: bool
    held: bool
    nearest: bool


class Flow:
    """A flow of a `Device`: its `struct htbs_flow` and its pending requests, oldest first."""

    def __init__(self, lib: ctypes.CDLL, own: Params | None, device: "Device"):
        self.lib, self.own, self.device = lib, own, device
        self.keep = memory(lib, "flow")
        self.address = ctypes.addressof(self.keep)
        self.queue: list[Request] = []

    @property
    def params(self) -> Params:
        """The flow's own reservation, or that of the pool."""
        return self.own or self.device.shared

    def view(self) -> FlowView:
        """Return the policy's state of the flow."""
        view = FlowView()
        self.lib.host_flow_view(self.address, byref(view))
        return view

    def as_new(self, now: int) -> bool:
        """Return true if the flow has no less left of its reservation than a new one."""
        return self.lib.htbs_flow_as_new(self.address, now % WRAP)

    def nearest(self) -> Request:
        """Return the first pending request at or after the flow's sweep, or else the first of all.

        It is a synchronous one if any is pending.
        """
        sweep = self.view().sweep
        return min(self.queue, key=lambda each: (
            not each.sync, each.pos < sweep, each.pos, each.placed))


class Device:
    """`htbs/core` with its requests. `now` is real time and never decreases."""

    def __init__(self, lib: ctypes.CDLL, rotational: bool = True, position: int = 20 * 10**6,
                 t_wait: int = 10**7):
        self.lib = lib
        self.policy = memory(lib, "policy")
        self.background = Flow(lib, DEFAULTS, self)
        self.shared = DEFAULTS
        self.flows = {self.background.address: self.background}
        lib.htbs_policy_init(self.policy, self.background.address, rotational, position, t_wait)
        lib.htbs_flow_init(self.background.address, self.policy, CParams(*DEFAULTS), 0)
        self.depth = lib.host_policy_depth(self.policy).contents
        self.service = lib.host_policy_service(self.policy).contents
        self.window = lib.host_policy_window(self.policy).contents
        self.quota = lib.host_policy_quota(self.policy).contents
        self.nearest = False
        self.places = 0

    def init_flow(self, params: Params | None, now: int = 0) -> Flow:
        """Create a flow, in the pool if it has no reservation of its own."""
        flow = Flow(self.lib, params, self)
        self.lib.htbs_flow_init(flow.address, self.policy, _c_params(params), now % WRAP)
        self.flows[flow.address] = flow
        return flow

    def arrive(self, flow: Flow, request: Request, now: int) -> CArrival:
        """A request arrives."""
        arrival = CArrival()
        request.arrived = now
        self.lib.host_arrive(self.policy, flow.address, now % WRAP, byref(request.extent()),
                             byref(arrival))
        self.places += 1
        request.placed = self.places
        flow.queue.append(request)
        return arrival

    def dispatch_arriving(self, flow: Flow, request: Request, now: int) -> str:
        """A request arrives. Return "dispatched", "held", or "choice" if nothing has changed."""
        request.arrived, request.sent = now, CSent()
        how = self.lib.host_dispatch_arriving(self.policy, flow.address, now % WRAP,
                                              byref(request.extent()), byref(request.sent))
        if how == 1:
            flow.queue.append(request)
            self.place(request)
        return ("choice", "held", "dispatched")[how]

    def choose(self, now: int) -> Choice:
        """Choose the flow whose request is to be dispatched."""
        out = CChoice()
        self.lib.htbs_policy_choose(self.policy, now % WRAP, byref(out))
        self.nearest = out.order == NEAREST
        return Choice(self.flows[out.flow] if out.flow else None, out.switched, out.wait_began,
                      out.timed_out, out.overload_ended, out.held, self.nearest)

    def hold_for_tag(self) -> None:
        """Hold the choice, because the driver has no tag."""
        self.lib.htbs_policy_hold_for_tag(self.policy)

    def dispatch(self, flow: Flow, now: int) -> tuple[Request, bool]:
        """Dispatch the chosen request. Return it, and whether an overload began."""
        request = flow.nearest() if self.nearest else flow.queue[0]
        flow.queue.remove(request)
        request.sent = CSent()
        began = self.lib.htbs_policy_dispatch(self.policy, flow.address, now % WRAP,
                                              byref(request.extent()), byref(request.sent))
        self._set_head(flow)
        return request, began

    def merge(self, flow: Flow, kept: Request, gone: Request) -> None:
        """Merge the pending `gone` into `kept`, which takes the earlier place of the two."""
        queue = flow.queue
        if queue.index(gone) < queue.index(kept):
            queue.remove(kept)
            queue[queue.index(gone)] = kept
        else:
            queue.remove(gone)
        kept.arrived = min(kept.arrived, gone.arrived)
        kept.size += gone.size
        self.lib.htbs_policy_remove(self.policy, flow.address)
        self._set_head(flow)

    def remove(self, flow: Flow, request: Request) -> None:
        """A pending request is merged into one of another flow, or passes a cap."""
        flow.queue.remove(request)
        self.lib.htbs_policy_remove(self.policy, flow.address)
        self._set_head(flow)

    def place(self, request: Request) -> None:
        """The position of a pending request has changed."""
        self.places += 1
        request.placed = self.places

    def set_weight(self, flow: Flow, weight: int) -> None:
        """Set the weight of a flow; 0: none."""
        flow.own = flow.own._replace(weight=weight)
        self.lib.host_flow_set_weight(flow.address, weight)

    def set_t_wait(self, t_wait: int) -> None:
        """Set the longest wait, ns."""
        self.lib.host_policy_set_t_wait(self.policy, t_wait)

    def set_late(self, one_in: int, one_in_writes: int) -> None:
        """Set how many conforming requests may be late."""
        self.lib.htbs_policy_set_late(self.policy, one_in, one_in_writes)

    def grow(self, flow: Flow, request: Request, size: int) -> None:
        """A bio of `size` bytes is merged into a pending request."""
        request.size += size
        self._set_head(flow)

    def charge_bypass(self, flow: Flow, size: int, now: int) -> None:
        """Charge a request that bypasses the policy."""
        self.lib.htbs_policy_charge_bypass(self.policy, flow.address, now % WRAP, size)

    def admit_urgent(self, cost: int, now: int) -> int | None:
        """A request that others may wait for arrives. Return when it is due if it is urgent."""
        due = c_uint64()
        urgent = self.lib.htbs_policy_admit_urgent(self.policy, now % WRAP, cost, byref(due))
        return due.value if urgent else None

    def urgent_goes(self, cost: int, due: int, now: int) -> bool:
        """Return true if an urgent request is dispatched now."""
        return self.lib.htbs_policy_urgent_goes(self.policy, now % WRAP, cost, due % WRAP)

    def complete(self, flow: Flow, request: Request, now: int) -> bool:
        """A dispatched request completed. Return true if the device is idled from now on."""
        return self.lib.htbs_policy_complete(self.policy, flow.address, now % WRAP,
                                             byref(request.sent))

    def requeue(self, flow: Flow, request: Request) -> bool:
        """The driver returned a dispatched request. Return true if a wait ended."""
        return self.lib.htbs_policy_requeue(self.policy, flow.address, byref(request.sent))

    def redispatch(self, flow: Flow, request: Request, now: int) -> None:
        """Dispatch a request that bypasses the policy: it was requeued or inserted at the head."""
        flags = CSent.FAR | (CSent.WRITE if request.write else 0)
        request.sent = request.sent or CSent(0, 0, request.cost, flags)
        request.sent.at = now % WRAP
        self.lib.htbs_policy_redispatch(self.policy, flow.address, byref(request.sent))

    def configure(self, flow: Flow, params: Params | None, now: int,
                  passing: Sequence[Request] = ()) -> None:
        """Change a reservation; None: to that of the pool. Requests in `passing` pass its cap."""
        flow.own = params
        self.lib.htbs_policy_configure(self.policy, flow.address, _c_params(params), now % WRAP)
        for request in passing:
            flow.queue.remove(request)
            self.lib.htbs_policy_remove(self.policy, flow.address)
        self._set_head(flow)

    def configure_pool(self, flow: Flow, params: Params, now: int) -> None:
        """Change the reservation that the pool shares; the cap is that of the flow."""
        self.shared = params
        self.lib.htbs_policy_configure_pool(self.policy, flow.address, CParams(*params),
                                            now % WRAP)
        self._set_head(flow)

    def set_cap(self, flow: Flow, most: int, now: int) -> None:
        """Set the cap of a flow; 0: none."""
        if flow.own:
            flow.own = flow.own._replace(max=most)
        self.lib.htbs_policy_set_cap(self.policy, flow.address, most, now % WRAP)
        self._set_head(flow)

    def drain(self, drains: bool) -> bool:
        """Set whether the queue has to be emptied. Return true if that changed."""
        return self.lib.htbs_policy_drain(self.policy, drains)

    def unthrottle(self, now: int) -> Flow | None:
        """Unthrottle the first throttled flow if it is due, and return it, or None."""
        address = self.lib.htbs_policy_unthrottle(self.policy, now % WRAP)
        return self.flows[address] if address else None

    def next_unthrottle(self) -> int | None:
        """Return when the first throttled flow is unthrottled."""
        at = c_uint64()
        return at.value if self.lib.htbs_policy_next_unthrottle(self.policy, byref(at)) else None

    def timer(self) -> int | None:
        """Return when to choose again if nothing happens before."""
        at = c_uint64()
        return at.value if self.lib.htbs_policy_timer(self.policy, byref(at)) else None

    def timeout(self, now: int) -> bool:
        """The timer expired. Return true if a wait ends now."""
        return self.lib.htbs_policy_timeout(self.policy, now % WRAP)

    def cancel_wait(self) -> bool:
        """End a wait. Return true if there was one."""
        return self.lib.htbs_policy_cancel_wait(self.policy)

    def exit_flow(self, flow: Flow) -> bool:
        """Remove a flow with no requests. Return true if a wait for it ended."""
        del self.flows[flow.address]
        return self.lib.htbs_policy_exit_flow(self.policy, flow.address)

    def view(self) -> SimpleNamespace:
        """Return the policy's state."""
        view = PolicyView()
        self.lib.host_policy_view(self.policy, byref(view))
        numbers = {name: getattr(view, name) for name, _ in PolicyView._fields_}
        return SimpleNamespace(**numbers | {
            "active": self.flows[view.active] if view.active else None, "wait": WAITS[view.wait],
            "has_work": bool(view.has_work)})

    def _set_head(self, flow: Flow) -> None:
        if flow.queue:
            self.lib.host_set_head(self.policy, flow.address, byref(flow.queue[0].extent()))
