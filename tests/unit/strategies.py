"""Hypothesis strategies: the whole range of each parameter, with its limits in particular."""

import os

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tests.model.reservation import Params
from tests.unit.host import ROOT

BW = (4096, 1 << 40)
BURST = (4096, 1 << 32)
LATENCY = (1000, 100 * 10**9)
WEIGHT = (0, 1, 10_000)  # 0: none
CAP = (0, 0, 0, 4096, 200_000, 10**7, 1 << 40)  # 0: none
IOPS = (1, 1 << 28)


def load_profile() -> None:
    """Load the settings of all Hypothesis tests; each run draws the same examples.

    It is called by a conftest.py. With --hypothesis-profile=fresh the examples depend on
    --hypothesis-seed; with =quick there are fewer of them.
    """
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(ROOT / "build/hypothesis")
    settings.register_profile("htbs", deadline=None, derandomize=True, print_blob=False,
                              report_multiple_bugs=False,
                              phases=[Phase.explicit, Phase.generate, Phase.shrink],
                              suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("fresh", settings.get_profile("htbs"), derandomize=False)
    settings.register_profile("quick", settings.get_profile("htbs"), max_examples=10)
    settings.load_profile("htbs")


def part(count: int) -> int:
    """Return the number of examples, or the profile's part of it."""
    return max(1, count * settings.default.max_examples // 100)


def examples(count: int) -> settings:
    """Test a property with `count` examples, or the profile's part of them."""
    return settings(max_examples=part(count))


def within(low: int, high: int, *usual: int) -> st.SearchStrategy[int]:
    """Return a limit, a usual value or any value between the limits."""
    return st.one_of(st.sampled_from([*usual, low, high]), st.integers(low, high))


params = st.builds(Params, within(*BW, 200_000, 800_000, 10**9, 3 * 10**8 + 7),
                   within(*BURST, 4097, 65536), within(*LATENCY, 50 * 10**6, 100 * 10**6),
                   st.sampled_from([0, 0, *WEIGHT, 200]), st.sampled_from(CAP), iops=st.just(0))


def with_operations(promises: st.SearchStrategy[Params], iops: st.SearchStrategy[int]
                    ) -> st.SearchStrategy[Params]:
    """Return reservations; some reserve operations, in addition to bytes or instead of them."""
    def promise(each: Params, iops: int, alone: bool) -> Params:
        return each._replace(iops=iops, bw=0 if iops and alone else each.bw)

    return st.builds(promise, promises, iops, st.booleans())


any_promise = with_operations(params, st.one_of(st.just(0), within(*IOPS, 7, 50, 10**6)))
