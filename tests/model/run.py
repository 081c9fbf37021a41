"""Runs of the active flow, and waits for its next request, from the design, not from the C."""

from tests.model.device import Device
from tests.model.reservation import Reservation
from tests.model.slack import HEADS, LEAD, RUN_MAX, SHORT_RUN, SWEEP, slack_crowded, slack_end


class Runs(Device):
    """For how long the active flow keeps the device, and whether that is kept idle for it."""

    def __init__(self, b_max: int, t_wait: int, rule: str, seek: int, rotational: bool):
        super().__init__(rule, seek, rotational)
        self.b_max, self.t_wait = b_max, t_wait
        self.run_since = 0
        self.crowded = False  # more requests conform than can be in time with a seek each
        self.turn_until = 0  # in a crowd, when the turn of the active flow ends
        self.wait: str | None = None  # "service", then "arrival"
        self.wait_until = 0

    def _update_crowded(self, now: int) -> None:
        """A turn begins. In a crowd, the turn of a conforming flow lasts for `service.turn`."""
        active = self.active
        self.crowded = (
            self.rule == "slack" and self.rotational and active is not None
            and active.queue[0].conforming
            and slack_crowded([(flow.params.latency, flow.burst())
                               for flow in self._backlogged()[:HEADS] if flow.queue[0].conforming],
                              self.service.seek, len(self.deadlines)))
        if self.crowded:
            self.service.begin_turn(active.due(active.queue[0]) - now)
            self.turn_until = now + self.service.seek + self.service.turn

    def _in_time(self, now: int) -> bool:
        """Can all pending requests be in time, and is no conforming request in flight late."""
        active = self.active
        late = active is not None and active.queue and active.due(active.queue[0]) < now
        late = late or any(due < now for due in self.deadlines)
        return not late and now < self._slack(now + RUN_MAX)

    def _keep_active(self, now: int) -> bool:
        """May the active flow keep the device. Begins a wait if the flow has nothing pending."""
        flow = self.active
        if flow is None or self._throttles(flow, now) or self._background_eligible(now):
            return False
        if self.run >= self.b_max or (
                self.rule == "slack" and now >= self.run_since + self._max_run()):
            if not (self.weighted() and self.turn and self._share_is_first(flow)):
                return False
            self.run, self.run_since = 0, now
        if self.rule == "slack" and now >= self._run_deadline():
            return False
        if self._is_ahead(flow):
            return False
        if not flow.sequential() and not self._sweeps(now):
            return False
        return self._run_in_share(flow) and (bool(flow.queue) or self._should_wait(flow, now))

    def _is_ahead(self, flow: Reservation) -> bool:
        """In an overload, is the flow more than LEAD ahead of the smallest finish tag."""
        others = [each.finish() for each in self._backlogged()]
        if not others or not self._overloaded():
            return False
        most = min(others) + LEAD
        if flow.queue:
            return flow.finish() > most
        start = most - flow.params.latency
        return flow.start(start, flow.cost) > start

    def _sweeps(self, now: int) -> bool:
        """Does the next request of the active flow by position go before its oldest.

        Only on a rotational device with nothing in flight, as a device with several requests
        orders them itself. The oldest request of a run goes first, and every sixteenth time; a
        conforming one also goes as soon as a request could be late.
        """
        flow = self.active
        if self.rule == "paper" or not self.rotational or self.in_flight:
            return False
        if len(flow.queue) < 2 or self.run % SWEEP == 0:
            return False
        if self._overloaded() or not flow.queue[0].conforming:
            return True
        return now < self._slack_end(self._backlogged()[:HEADS], now + RUN_MAX)

    def _run_deadline(self) -> int:
        """With policy=slack, when the run of the active flow ends."""
        end, queue = self.run_since + self._max_run(), self.active.queue
        if self._overloaded():
            return end
        if self.crowded and (not queue or queue[0].conforming):
            return self.turn_until
        return self._slack(end)

    def _max_run(self) -> int:
        """With policy=slack, the longest run."""
        short = self._overloaded() or self.weighted()
        return SHORT_RUN * self.service.seek if short else RUN_MAX

    def _slack(self, end: int) -> int:
        """Until when the heads of the other flows can wait."""
        return self._slack_end([flow for flow in self._backlogged()[:HEADS]
                               if flow is not self.active], end)

    def _slack_end(self, flows: list[Reservation], end: int) -> int:
        """Until when the heads of these flows can wait."""
        heads = [(flow.due(flow.queue[0]), flow.burst()) for flow in flows]
        return slack_end(heads, self.service.seek, self.in_flight, end)

    # Waits for the next request of the active flow.

    def _should_wait(self, flow: Reservation, now: int) -> bool:
        """Is the device kept idle for a flow with nothing pending. Begins a wait if so."""
        if not flow.sequential():
            return False
        if not flow.sync or flow.think >= self._max_think():
            return False
        if flow.in_flight > 1 and not (self.rule == "slack" and self.rotational):
            return False
        if flow.in_flight:
            self.wait = "service"
            self.wait_until = now + min(flow.params.latency, RUN_MAX) + self.t_wait
            self._limit_wait()
            return True
        if now >= flow.idle_since + self._max_wait(flow):
            return False
        self._begin_wait(flow)
        return True

    def _begin_wait(self, flow: Reservation) -> None:
        """Keep the device idle for the next request of a flow."""
        self.wait, self.wait_until = "arrival", flow.idle_since + self._max_wait(flow)
        self._limit_wait()

    def _limit_wait(self) -> bool:
        """With policy=slack a wait ends before another head is late. True if it is cut short."""
        if self.rule == "paper" or self.wait is None:
            return False
        if self.wait == "service" and self.crowded:  # the turn begins with the completion
            return False
        leave = self._run_deadline()
        if self.wait == "service":  # only the pending requests need time
            leave += (self.in_flight + 1) * self.service.seek
        before, self.wait_until = self.wait_until, min(self.wait_until, leave)
        return self.wait_until < before

    def _max_wait(self, flow: Reservation) -> int:
        """The longest wait for the next request of a flow, from its last completion on.

        T_wait with policy=paper; with policy=slack four times the mean think time, at least a
        sixteenth of T_wait and at most T_wait.
        """
        if self.rule == "paper":
            return self.t_wait
        return min(max(4 * flow.think, self.t_wait // 16), self.t_wait)

    def _max_think(self) -> int:
        """The device does not wait for a flow with this mean think time or a longer one.

        T_wait, or an eighth of a seek where that is shorter, but a sixteenth of T_wait at least.
        """
        if self.rule == "paper" or not self.rotational:
            return self.t_wait
        return min(max(self.service.seek // 8, self.t_wait // 16), self.t_wait)

    def timeout(self, now: int) -> bool:
        """A wait ends when its time is over. True if one ends now.

        A wait for an arrival lasts T_wait at most, from the completion on; a wait for a completion
        ends T_wait after the request would be late.
        """
        return self.wait is not None and now >= self.wait_until and self.cancel_wait()

    def cancel_wait(self) -> bool:
        """End a wait. True if there was one; then no flow is active."""
        self.held = False
        if self.wait is None:
            return False
        self.wait = self.active = None
        return True

    def _expects(self, oldest: int) -> bool:
        """Would the next request of the active flow, which has none pending, have an older tag."""
        flow = self.active
        if flow is None or flow.queue:
            return False
        return flow.start(oldest, flow.cost) <= oldest
