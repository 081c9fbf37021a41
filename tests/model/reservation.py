"""The parameters of a reservation."""

from typing import NamedTuple

SECOND = 10**9
COST_MIN = 4096  # the smallest request is charged this much


class Params(NamedTuple):
    """A reservation: rho, sigma, delta; its weight, its cap, operations. 0: none.

    Bytes or operations count, or both. The burst of operations is `burst` / COST_MIN.
    """

    bw: int
    burst: int
    latency: int
    weight: int = 0
    max: int = 0
    iops: int = 0
