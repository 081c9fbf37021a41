"""Sizes, rates and times: which texts are accepted or refused, and how values are printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htbsctl import quantity
from htbsctl.failure import Exit, Failure


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4096", 4096),
        ("400M", 400 << 20),
        ("400m", 400 << 20),
        ("400MiB", 400 << 20),
        ("400MB", 400_000_000),
        ("1.5K", 1536),
        ("2 G", 2 << 30),
        ("1T", 1 << 40),
        ("100MB/s", 100_000_000),
        ("100MiB/s", 100 << 20),
    ],
)
def test_rates(text, value):
    assert quantity.rate(text) == value


@pytest.mark.parametrize("text", ["", "M", "-4K", "4P", "400Mb", "400Mbps", "4e6", "1,5M", "0.3K"])
def test_no_rates(text):
    with pytest.raises(Failure) as raised:
        quantity.rate(text)
    assert raised.value.code is Exit.USAGE


@pytest.mark.parametrize(
    ("text", "value"), [("10ms", 10_000), ("500us", 500), ("1s", 10**6), ("0.5ms", 500)]
)
def test_times(text, value):
    assert quantity.time_us(text) == value


@pytest.mark.parametrize("text", ["10", "10m", "10 min", "0.5us", "-1ms", ""])
def test_no_times(text):
    with pytest.raises(Failure) as raised:
        quantity.time_us(text)
    assert raised.value.code is Exit.USAGE


@pytest.mark.parametrize(
    ("value", "base", "rounded"),
    [(787_464, 1024, 770 << 10), (4537, 1024, 4537), (35_365, 1000, 36_000), (9999, 1000, 9999)],
)
def test_proposed_values_are_rounded_up(value, base, rounded):
    assert quantity.round_up(value, base) == rounded


@given(st.integers(0, 1 << 50))
def test_exact_texts_are_read_back(value):
    assert quantity.rate(quantity.exact_size(value)) == value
    assert quantity.time_us(quantity.exact_time(value)) == value
