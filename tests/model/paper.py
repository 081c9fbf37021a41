"""The tags of the paper's figure 3, literally, for requests of unit cost.

Tokens are requests, `rate` is in requests per second, time is an exact fraction of a second. Three
slips of the printed listing are corrected by the paper's text:

- F = S + delta is assigned to every request, not only to those with tokens;
- a token is taken for every request, so that tokens go negative; if only conforming requests paid,
  a flood would get `rate` from the tokens and `rate` again from MaxS;
- MaxS follows every request: it "represents the sum of the largest start tag and 1/rho". As
  printed, it follows only those without tokens, and the first request beyond the burst is free.
"""

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class Tokens:
    """One reservation: sigma, rho, delta and what figure 3 keeps of it."""

    depth: int
    rate: Fraction
    latency: Fraction
    tokens: Fraction = field(init=False)
    max_s: Fraction = field(init=False)
    last: Fraction = field(init=False)
    pending: list[Fraction] = field(default_factory=list)  # start tags, oldest first

    def __post_init__(self):
        self.tokens = Fraction(self.depth)
        self.max_s = self.last = Fraction(0)

    def update_num_tokens(self, t: Fraction) -> None:
        """Tokens come at the reserved rate, up to the burst."""
        self.tokens = min(self.tokens + (t - self.last) * self.rate, Fraction(self.depth))
        self.last = t

    def compute_tags(self, t: Fraction) -> tuple[Fraction, Fraction]:
        """S and F of a request that arrives at t."""
        start = max(self.max_s, t) if self.tokens < 1 else t
        self.max_s = start + 1 / self.rate
        self.tokens -= 1
        self.pending.append(start)
        return start, start + self.latency


def check_and_adjust_tags(reservations: list[Tokens], t: Fraction) -> Fraction:
    """If all pending start tags lie in the future, move them back. By how much."""
    backlogged = [r for r in reservations if r.pending]
    if not backlogged or any(r.pending[0] <= t for r in backlogged):
        return Fraction(0)
    mindrift = min(r.pending[0] for r in backlogged) - t
    for r in backlogged:
        r.max_s -= mindrift
        r.pending = [start - mindrift for start in r.pending]
    return mindrift


def add_request(reservations: list[Tokens], i: int, t: Fraction) -> tuple[Fraction, Fraction]:
    """A request of reservation i arrives at t: its S and F, in real time."""
    reservations[i].update_num_tokens(t)
    check_and_adjust_tags(reservations, t)
    return reservations[i].compute_tags(t)
