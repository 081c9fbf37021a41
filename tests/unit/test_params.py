"""The ranges of the parameters of a reservation."""

from ctypes import byref

import pytest

from tests.model.reservation import Params
from tests.unit.host import WRAP, CParams
from tests.unit.strategies import BURST, BW, LATENCY

PLAIN = Params(200_000, 8192, 10**7)


@pytest.mark.parametrize(("name", "low", "high"),
                         [("bw", *BW), ("burst", *BURST), ("latency", *LATENCY)])
def test_range_of_parameters(lib, name, low, high):
    """The limits are valid; the numbers beyond them, 0 and the largest number are not."""
    for value, valid in ((low, True), (high, True), (low - 1, False), (high + 1, False),
                         (0, False), (WRAP - 1, False)):
        promise = PLAIN._replace(**{name: value})
        assert lib.htbs_params_valid(byref(CParams(*promise))) == valid


@pytest.mark.parametrize(("weight", "valid"), [(0, True), (1, True), (10_000, True),
                                               (10_001, False), ((1 << 32) - 1, False)])
def test_range_of_weights(lib, weight, valid):
    """0 means no weight."""
    assert lib.htbs_params_valid(byref(CParams(*PLAIN._replace(weight=weight)))) == valid


@pytest.mark.parametrize(("bw", "iops", "most", "valid"), [
    (4096, 1, 0, True), (1 << 40, 1 << 28, 0, True), (0, 1, 0, True), (0, 1 << 28, 0, True),
    (0, 0, 0, False), (4095, 1, 0, False), (4096, (1 << 28) + 1, 0, False),
    (0, (1 << 28) + 1, 0, False), (0, (1 << 32) - 1, 0, False),
    (0, 10, 40_960, True), (0, 10, 40_959, False), (4096, 10, 4096, True),
])
def test_range_of_operations(lib, bw, iops, most, valid):
    """Bytes or operations count; a cap is no less than the reserved bytes/s."""
    promise = PLAIN._replace(bw=bw, iops=iops, max=most)
    assert lib.htbs_params_valid(byref(CParams(*promise))) == valid


@pytest.mark.parametrize(("most", "valid"), [
    (0, True), (PLAIN.bw, True), (1 << 40, True), (PLAIN.bw - 1, False), ((1 << 40) + 1, False),
])
def test_range_of_caps(lib, most, valid):
    """A cap is no less than the bandwidth."""
    assert lib.htbs_params_valid(byref(CParams(*PLAIN._replace(max=most)))) == valid
