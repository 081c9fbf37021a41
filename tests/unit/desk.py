"""A device with a clock, for tests of single decisions of the policy."""

from tests.model.reservation import COST_MIN, SECOND, Params
from tests.unit.host import Device, Request

MS = 10**6
T_WAIT = 10 * MS
PAGE = 8  # sectors of 4096 bytes
RUN = 8  # times the longest positioning

# 4096 bytes take 1 ms, and a burst is two requests of 4096 bytes.
SOON = Params(4_096_000, 8192, 200 * MS)
LATER = Params(4_096_000, 8192, 500 * MS)
# One block each second is reserved, the rest is surplus.
SPARE = Params(4096, 4096, SECOND)


class Desk:
    """A device, and shorthands for what the elevator does with it."""

    def __init__(self, lib, position=10 * MS, t_wait=T_WAIT, rotational=True, claims=False):
        """claims: the device claims to be rotational, and HTBS has to find out."""
        self.device = Device(lib, rotational, position, t_wait)
        if not claims:
            lib.host_policy_believe_claim(self.device.policy)
        self.now = SECOND

    def init_flow(self, promise):
        """Create a flow."""
        return self.device.init_flow(promise, self.now)

    @property
    def longest(self):
        """Return the longest time of one positioning, ns."""
        return self.device.service.position + 5 * self.device.service.deviation

    def arrive(self, flow, pos=0, sync=True, size=COST_MIN, write=False):
        """A request arrives, by default of 4096 bytes."""
        return self.device.arrive(flow, Request(size, pos, sync, write), self.now)

    def dispatch(self):
        """Choose a flow and dispatch a request of it; return both, or None."""
        while self.device.unthrottle(self.now):
            pass
        flow = self.device.choose(self.now).flow
        return flow and (flow, self.device.dispatch(flow, self.now)[0])

    def serve(self, took=0):
        """Choose a flow and dispatch a request, which completes `took` later; return the flow."""
        served = self.dispatch()
        if not served:
            return None
        self.now += took
        self.device.complete(*served, self.now)
        return served[0]

    def read(self, flow, count, pos=0, took=0):
        """Serve sequential synchronous reads, one at a time; return where the last one ends."""
        for _ in range(count):
            self.arrive(flow, pos)
            assert self.serve(took) is flow
            pos += PAGE
        return pos
