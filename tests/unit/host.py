"""The core library on the host: the module's own sources, compiled for ctypes.

`build()` compiles and loads the library. `Device` calls `htbs/core/policy.c` and queues the
requests of each flow in the order of arrival, as the elevator does. It has the same methods as the
specification in `tests/model/htbs.py`, so one script of events drives both; the methods of both
have the names of the functions in `include/htbs/core/policy.h`.
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
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from types import SimpleNamespace

from tests.model.htbs import Arrival, Choice
from tests.model.reservation import Params, Request, Tag, nearest, take

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "build/linux-source/tools"
LIBRARY = ROOT / "build/host/libhtbs.so"
# The core library, as in the module.
CORE = tuple(sorted((ROOT / "htbs/core").glob("*.c")))
FLAGS = ("-shared", "-fPIC", "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Wno-unused-parameter",
         "-Werror")

WRAP = 1 << 64
WAITS = (None, "service", "arrival")
RULES = ("paper", "slack")
NEAREST = 2  # enum htbs_order


class CParams(Structure):
    """struct htbs_params."""

    _fields_ = [("bw", c_uint64), ("burst", c_uint64), ("latency", c_uint64),
                ("weight", c_uint32), ("max", c_uint64), ("iops", c_uint32)]


class CClock(Structure):
    """struct htbs_clock."""

    _fields_ = [("drift", c_uint64), ("era", c_uint64)]


class CCurve(Structure):
    """struct htbs_curve."""

    _fields_ = [("params", CParams), ("tat", c_uint64), ("rem", c_uint64), ("era", c_uint64)]


class CStartTags(Structure):
    """struct htbs_start_tags."""

    _fields_ = [("bytes", c_uint64), ("ops", c_uint64)]

    @classmethod
    def of(cls, request: Request) -> "CStartTags":
        """The tags kept with a pending request."""
        return cls(*(tag.start for tag in request.tags))

    def keep(self, request: Request) -> None:
        """Keep the tags with a request."""
        request.tags = (Tag(self.bytes), Tag(self.ops))


class CArrival(Structure):
    """struct htbs_arrival."""

    _fields_ = [("start", c_uint64), ("kept", CStartTags), ("v", c_uint64), ("due", c_uint64),
                ("jump", c_uint64), ("conforming", c_bool), ("hit", c_bool),
                ("wait_shortened", c_bool)]


class CChoice(Structure):
    """struct htbs_choice."""

    _fields_ = [("flow", c_void_p), ("jump", c_uint64), ("order", c_int), ("switched", c_bool),
                ("wait_began", c_bool), ("timed_out", c_bool), ("overload_ended", c_bool),
                ("held", c_bool)]


class CExtent(Structure):
    """struct htbs_extent."""

    _fields_ = [("pos", c_uint64), ("sectors", c_uint32), ("cost", c_uint32), ("sync", c_bool)]


class CIncoming(Structure):
    """struct htbs_incoming."""

    _fields_ = [("arrived", c_uint64), ("cost", c_uint32), ("write", c_bool)]


class CHead(Structure):
    """struct htbs_head."""

    _fields_ = [("kept", CStartTags), ("due", c_uint64), ("arrived", c_uint64),
                ("conforms", c_bool), ("write", c_bool)]

    @classmethod
    def of(cls, request: Request) -> "CHead":
        """The head of a flow with this as its oldest pending request."""
        return cls(CStartTags.of(request), request.due, request.arrived % WRAP, request.conforming,
                   request.write)


class CSent(Structure):
    """struct htbs_sent."""

    _fields_ = [("at", c_uint64), ("due", c_uint64), ("conforms", c_bool), ("write", c_bool)]


class CWindow(Structure):
    """struct htbs_window."""

    _fields_ = [("limit", c_uint32), ("until", c_uint64), ("full", c_bool)]


class CService(Structure):
    """struct htbs_service."""

    _fields_ = [("seek", c_uint64), ("turn", c_uint64), ("since", c_uint64),
                ("streaming", c_bool)]


class COverload(Structure):
    """struct htbs_overload."""

    _fields_ = [("late", c_uint32), ("now", c_bool)]


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

    _fields_ = [("active", c_void_p), ("run", c_uint64), ("wait", c_uint64),
                ("wait_until", c_uint64), ("has_work", c_uint64), ("shared", c_uint64),
                ("busy", c_uint64), ("v", c_uint64), ("background_due", c_uint64)]


class FlowView(Structure):
    """struct host_flow_view."""

    _fields_ = [("pending", c_uint64), ("in_flight", c_uint64), ("think", c_uint64),
                ("burst", c_uint64), ("sweep", c_uint64), ("share", c_uint64),
                ("cap_end", c_uint64), ("throttled", c_uint64), ("finish", c_uint64),
                ("pace", c_uint64), ("eligible", c_uint64)]


MIRRORS = {"params": CParams, "start_tags": CStartTags, "clock": CClock, "curve": CCurve,
           "arrival": CArrival, "choice": CChoice, "extent": CExtent, "incoming": CIncoming,
           "head": CHead, "sent": CSent, "window": CWindow, "service": CService,
           "overload": COverload, "admission": CAdmission}

PROTOTYPES = {
    "htbs_params_valid": (c_bool, POINTER(CParams)),
    "htbs_clock_read": (c_uint64, c_void_p, c_uint64),
    "htbs_clock_advance": (c_uint64, c_void_p, c_uint64, c_uint64),
    "htbs_curve_init": (None, POINTER(CCurve), POINTER(CParams), c_void_p, c_uint64),
    "htbs_curve_arrive": (c_uint64, c_void_p, c_void_p, c_uint64, c_uint32),
    "htbs_curve_charge_untagged": (None, c_void_p, c_void_p, c_uint64, c_uint32),
    "htbs_curve_refund": (c_uint64, c_void_p, c_uint32),
    "htbs_curve_charge": (None, c_void_p, c_uint32),
    "htbs_service_init": (None, POINTER(CService), c_uint64),
    "htbs_service_begin": (None, POINTER(CService), c_uint64, c_bool),
    "htbs_service_end": (c_uint64, POINTER(CService), c_uint64),
    "htbs_service_begin_turn": (None, POINTER(CService), c_uint64),
    "htbs_slack_crowded": (c_bool, POINTER(CService), c_void_p, c_uint32),
    "htbs_overload_account": (c_bool, POINTER(COverload), c_bool),
    "htbs_overload_end": (c_bool, POINTER(COverload)),
    "htbs_slack_end": (c_uint64, POINTER(CService), c_void_p, c_void_p, c_uint32, c_uint64),
    "htbs_tree_init": (None, c_void_p),
    "htbs_tree_insert": (None, c_void_p, c_void_p),
    "htbs_tree_remove": (None, c_void_p, c_void_p),
    "htbs_tree_update": (None, c_void_p),
    "htbs_tree_entitled": (c_void_p, c_void_p, c_uint64),
    "htbs_tree_eligible": (c_void_p, c_void_p, c_uint64),
    "htbs_tree_oldest": (c_void_p, c_void_p),
    "htbs_policy_init": (None, c_void_p, c_void_p, c_uint32, c_uint64),
    "htbs_flow_init": (None, c_void_p, c_void_p, POINTER(CParams), c_uint64),
    "htbs_policy_arrive": (None, c_void_p, c_void_p, c_uint64, POINTER(CIncoming),
                           POINTER(CArrival)),
    "htbs_policy_choose": (None, c_void_p, c_uint64, POINTER(CChoice)),
    "htbs_policy_dispatch": (c_bool, c_void_p, c_void_p, POINTER(CExtent), POINTER(CSent)),
    "htbs_policy_remove": (None, c_void_p, c_void_p, c_bool),
    "htbs_policy_set_head": (None, c_void_p, c_void_p, POINTER(CHead)),
    "htbs_policy_oldest_arrival": (c_bool, c_void_p, POINTER(c_uint64)),
    "htbs_policy_complete": (c_bool, c_void_p, c_void_p, c_uint64, POINTER(CSent)),
    "htbs_policy_requeue": (c_bool, c_void_p, c_void_p, POINTER(CSent)),
    "htbs_policy_redispatch": (None, c_void_p, c_void_p, POINTER(CSent)),
    "htbs_policy_charge": (None, c_void_p, c_void_p, c_uint64, c_uint32),
    "htbs_policy_charge_bypass": (None, c_void_p, c_void_p, c_uint64, c_uint32),
    "htbs_window_init": (None, POINTER(CWindow)),
    "htbs_window_hold": (None, POINTER(CWindow), c_uint64),
    "htbs_window_open": (c_bool, POINTER(CWindow), c_uint32, c_uint64),
    "htbs_window_update": (None, POINTER(CWindow), c_uint32, c_uint64, c_uint64),
    "htbs_policy_configure": (None, c_void_p, c_void_p, POINTER(CParams), c_uint64),
    "htbs_policy_retag": (None, c_void_p, c_void_p, c_uint64, c_uint32, POINTER(CStartTags),
                          POINTER(c_uint64)),
    "htbs_policy_set_weight": (None, c_void_p, c_void_p, c_uint32),
    "htbs_flow_start_tag": (c_uint64, c_void_p, POINTER(CStartTags)),
    "htbs_flow_due": (c_uint64, c_void_p, c_uint64),
    "htbs_policy_set_cap": (None, c_void_p, c_void_p, c_uint64, c_uint64),
    "htbs_policy_drain": (c_bool, c_void_p, c_bool),
    "htbs_policy_unthrottle": (c_void_p, c_void_p, c_uint64),
    "htbs_policy_next_unthrottle": (c_bool, c_void_p, POINTER(c_uint64)),
    "htbs_policy_timeout": (c_bool, c_void_p, c_uint64),
    "htbs_policy_cancel_wait": (c_bool, c_void_p),
    "htbs_policy_exit_flow": (c_bool, c_void_p, c_void_p),
    "htbs_admission_begin": (None, POINTER(CAdmission), c_uint64, c_uint32),
    "htbs_admission_add": (None, POINTER(CAdmission), POINTER(CParams)),
    "htbs_admission_requests": (c_uint32, POINTER(CParams), c_uint32),
    "htbs_admission_left": (c_uint64, POINTER(CAdmission)),
    "htbs_admission_end": (c_bool, POINTER(CAdmission)),
    "host_policy_view": (None, c_void_p, POINTER(PolicyView)),
    "host_flow_view": (None, c_void_p, POINTER(FlowView)),
    "host_policy_clock": (POINTER(CClock), c_void_p),
    "host_flow_curve": (POINTER(CCurve), c_void_p),
    "host_policy_service": (POINTER(CService), c_void_p),
    "host_policy_overload": (POINTER(COverload), c_void_p),
    "host_policy_window": (POINTER(CWindow), c_void_p),
    "host_policy_set_rule": (None, c_void_p, c_int),
    "host_policy_set_rotational": (None, c_void_p, c_bool),
    "host_node_set": (None, c_void_p, c_uint64, c_uint64),
    "host_node_set_due": (None, c_void_p, c_uint64, c_uint32),
    "host_node_set_moments": (None, c_void_p, c_uint64, c_uint64),
    "host_node_set_conforms": (None, c_void_p, c_bool),
    "host_tree_first": (c_void_p, c_void_p),
    "host_tree_next": (c_void_p, c_void_p),
    "host_tree_min_start": (c_uint64, c_void_p),
    "host_tree_consistent": (c_bool, c_void_p),
    "host_curve_charge_many": (None, POINTER(CCurve), c_uint32, c_uint32, c_uint32),
}


def compile_library(library: Path, sources: Sequence[Path], includes: Sequence[Path],
                    defines: Sequence[str] = ()) -> None:
    """Compile the core library with more sources."""
    rbtree = TOOLS / "lib/rbtree.c"
    if not rbtree.exists():
        raise FileNotFoundError(f"{rbtree.relative_to(ROOT)} is missing: run scripts/setup")
    library.parent.mkdir(parents=True, exist_ok=True)
    includes = (ROOT / "tests/unit/include", TOOLS / "include", ROOT / "include", *includes)
    # Test processes that run in parallel each build the library; any of the builds will do.
    new = library.with_suffix(f".{os.getpid()}")
    subprocess.run(["gcc", *FLAGS, *(f"-D{name}" for name in defines),
                    *(f"-I{path}" for path in includes),
                    *map(str, [*CORE, *sources, rbtree]), "-o", str(new)], check=True)
    new.replace(library)


def build() -> ctypes.CDLL:
    """Compile the core library and load it, with prototypes set and structures compared."""
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
    """Bytes of `struct htbs_<name>`."""
    return c_size_t.in_dll(lib, f"host_size_{name}").value


def memory(lib: ctypes.CDLL, name: str) -> ctypes.Array:
    """Memory for a `struct htbs_<name>` that is opaque to Python."""
    return ctypes.create_string_buffer(size_of(lib, name))


class Flow:
    """A flow of a `Device`: its `struct htbs_flow` and its pending requests, oldest first."""

    def __init__(self, lib: ctypes.CDLL, address: int, keep: ctypes.Array | None = None):
        self.lib, self.address, self.keep = lib, address, keep
        self.curve = lib.host_flow_curve(address).contents
        self.queue: list[Request] = []

    def start_tag(self, request: Request) -> int:
        """The present start tag of a pending request."""
        return self.lib.htbs_flow_start_tag(self.address, byref(CStartTags.of(request)))

    def view(self) -> FlowView:
        """The policy's state of the flow."""
        view = FlowView()
        self.lib.host_flow_view(self.address, byref(view))
        return view


class Device:
    """`htbs/core/policy.c` with its requests; see `tests.model.htbs.Policy` for the methods."""

    def __init__(self, lib: ctypes.CDLL, b_max: int, t_wait: int, rule: str = "paper",
                 seek: int = 0):
        self.lib = lib
        self.policy = memory(lib, "policy")
        keep = memory(lib, "flow")
        lib.htbs_policy_init(self.policy, keep, b_max, t_wait)
        lib.htbs_flow_init(keep, self.policy, CParams(4096, 4096, 1000), 0)
        self.background = Flow(lib, ctypes.addressof(keep), keep)
        self.flows = {self.background.address: self.background}
        self.clock = lib.host_policy_clock(self.policy).contents
        self.service = lib.host_policy_service(self.policy).contents
        self.overload = lib.host_policy_overload(self.policy).contents
        lib.htbs_service_init(byref(self.service), seek)
        windows = lib.host_policy_window(self.policy)
        self.windows = (windows[False], windows[True])
        self.by_position = False
        self.places = 0
        self.set_rule(rule)

    def set_rotational(self, reorders: bool) -> None:
        """Set whether the device is rotational, so that it reorders requests."""
        self.lib.host_policy_set_rotational(self.policy, reorders)

    def set_rule(self, rule: str) -> None:
        """Set the rule that bounds runs and waits: "paper" or "slack"."""
        self.lib.host_policy_set_rule(self.policy, RULES.index(rule))

    def init_flow(self, params: Params, now: int) -> Flow:
        """Create a flow."""
        keep = memory(self.lib, "flow")
        flow = Flow(self.lib, ctypes.addressof(keep), keep)
        self.lib.htbs_flow_init(keep, self.policy, CParams(*params), now % WRAP)
        self.flows[flow.address] = flow
        return flow

    def arrive(self, flow: Flow, request: Request, now: int) -> Arrival:
        """A request arrives. Its start tags are kept; see `Flow.start_tag()`."""
        out = CArrival()
        request.arrived = now
        incoming = CIncoming(now % WRAP, request.cost, request.write)
        self.lib.htbs_policy_arrive(self.policy, flow.address, now % WRAP, byref(incoming),
                                    byref(out))
        out.kept.keep(request)
        request.due, request.conforming = out.due, out.conforming
        self.places += 1
        request.placed = self.places
        flow.queue.append(request)
        return Arrival(out.start, out.v, out.due, out.jump, out.conforming, out.hit,
                       out.wait_shortened)

    def choose(self, now: int) -> Choice:
        """Choose the flow to dispatch a request of."""
        out = CChoice()
        self.lib.htbs_policy_choose(self.policy, now % WRAP, byref(out))
        flow = self.flows[out.flow] if out.flow else None
        self.by_position = out.order == NEAREST
        return Choice(flow, out.jump, out.switched, out.wait_began, out.timed_out,
                      out.overload_ended, out.held, self.by_position)

    def dispatch(self, flow: Flow, now: int) -> tuple[Request, bool]:
        """Dispatch the request that was chosen; also, did an overload begin."""
        request = nearest(flow.queue, flow.view().sweep) if self.by_position else flow.queue[0]
        take(flow.queue, request)
        request.sent, request.tags = now, (Tag(flow.start_tag(request)),)
        request.due = self.lib.htbs_flow_due(flow.address, request.due % WRAP)
        extent = CExtent(request.pos, request.sectors, request.cost, request.sync)
        changed = self.lib.htbs_policy_dispatch(self.policy, flow.address, byref(extent),
                                                byref(self._sent(request)))
        self._set_head(flow)
        return request, changed

    def merge(self, flow: Flow, kept: Request, gone: Request) -> None:
        """Merge the pending request `gone` into `kept`, which takes the earlier of both tags."""
        queue, start = flow.queue, flow.start_tag(gone)
        if start != flow.start_tag(kept) and self._earlier(start, flow.start_tag(kept)) == start:
            queue.remove(kept)
            queue[queue.index(gone)] = kept
            kept.tags = gone.tags
        else:
            queue.remove(gone)
        kept.due = self._earlier(kept.due, gone.due)
        kept.arrived = min(kept.arrived, gone.arrived)
        less = kept.conforming and gone.conforming
        kept.conforming |= gone.conforming
        self.lib.htbs_policy_remove(self.policy, flow.address, less)
        self._set_head(flow)

    def charge(self, flow: Flow, size: int, now: int) -> None:
        """Charge bytes that a bio added to a pending request."""
        self.lib.htbs_policy_charge(self.policy, flow.address, now % WRAP, size)

    def charge_bypass(self, flow: Flow, size: int, now: int) -> None:
        """Charge a request that bypasses the policy."""
        self.lib.htbs_policy_charge_bypass(self.policy, flow.address, now % WRAP, size)

    def complete(self, flow: Flow, request: Request, now: int) -> bool:
        """A dispatched request completed."""
        return self.lib.htbs_policy_complete(self.policy, flow.address, now % WRAP,
                                             self._sent(request))

    def requeue(self, flow: Flow, request: Request) -> bool:
        """The driver gave a dispatched request back."""
        return self.lib.htbs_policy_requeue(self.policy, flow.address, self._sent(request))

    def redispatch(self, flow: Flow, request: Request, now: int) -> None:
        """A request that was requeued, or inserted at the head, bypasses the policy."""
        request.sent = now
        self.lib.htbs_policy_redispatch(self.policy, flow.address, self._sent(request))

    @staticmethod
    def _sent(request: Request) -> CSent:
        return CSent(request.sent % WRAP, request.due % WRAP, request.conforming, request.write)

    def configure(self, flow: Flow, params: Params, now: int,
                  passing: Sequence[Request] = ()) -> None:
        """Change a reservation; some pending requests pass its cap."""
        lib = self.lib
        lib.htbs_policy_configure(self.policy, flow.address, CParams(*params), now % WRAP)
        for request in passing:
            flow.queue.remove(request)
            lib.htbs_policy_remove(self.policy, flow.address, request.conforming)
        for request in flow.queue:
            tags, due = CStartTags.of(request), c_uint64(request.due)
            lib.htbs_policy_retag(self.policy, flow.address, now % WRAP, request.cost,
                                  byref(tags), byref(due))
            tags.keep(request)
            request.due = due.value
        self._set_head(flow)

    def set_weight(self, flow: Flow, weight: int) -> None:
        """Set the weight of a flow, 0: none."""
        self.lib.htbs_policy_set_weight(self.policy, flow.address, weight)

    def set_cap(self, flow: Flow, most: int, now: int) -> None:
        """Set the cap of a flow, 0: none."""
        self.lib.htbs_policy_set_cap(self.policy, flow.address, most, now % WRAP)
        self._set_head(flow)

    def drain(self, drains: bool) -> bool:
        """Set whether the queue has to be emptied. True if that changed."""
        return self.lib.htbs_policy_drain(self.policy, drains)

    def unthrottle(self, now: int) -> Flow | None:
        """Unthrottle the first throttled flow, if its time has come; that flow or None."""
        address = self.lib.htbs_policy_unthrottle(self.policy, now % WRAP)
        return self.flows[address] if address else None

    def next_unthrottle(self) -> int | None:
        """When the first throttled flow is unthrottled."""
        at = c_uint64()
        return at.value if self.lib.htbs_policy_next_unthrottle(self.policy, byref(at)) else None

    def timeout(self, now: int) -> bool:
        """End a wait whose time is over. True if one ends now."""
        return self.lib.htbs_policy_timeout(self.policy, now % WRAP)

    def cancel_wait(self) -> bool:
        """End a wait. True if there was one."""
        return self.lib.htbs_policy_cancel_wait(self.policy)

    def exit_flow(self, flow: Flow) -> bool:
        """A flow with nothing pending or in flight goes away. True if a wait for it ended."""
        del self.flows[flow.address]
        return self.lib.htbs_policy_exit_flow(self.policy, flow.address)

    def clock_advance(self, to: int, now: int) -> None:
        """Let the virtual clock jump while no flow is backlogged, as floods of others would."""
        self.lib.htbs_clock_advance(byref(self.clock), now % WRAP, to % WRAP)

    def view(self) -> SimpleNamespace:
        """The policy's state."""
        view = PolicyView()
        self.lib.host_policy_view(self.policy, byref(view))
        return SimpleNamespace(active=self.flows[view.active] if view.active else None,
                               run=view.run, wait=WAITS[view.wait], wait_until=view.wait_until,
                               has_work=bool(view.has_work), shared=view.shared, busy=view.busy,
                               v=view.v, background_due=view.background_due)

    def _set_head(self, flow: Flow) -> None:
        if flow.queue:
            self.lib.htbs_policy_set_head(self.policy, flow.address,
                                          byref(CHead.of(flow.queue[0])))

    @staticmethod
    def _earlier(a: int, b: int) -> int:
        return a if (b - a) % WRAP < WRAP // 2 else b
