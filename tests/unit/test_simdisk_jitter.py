"""The delay that a hypervisor adds to each command, in tests/simdisk/jitter.c."""

from statistics import mean

import pytest

from tests.simdisk.model import MS, Jitter

US = 1000
NUMBER = 200_000


def times(jitter: Jitter) -> list[int]:
    """Return the delays of many commands, ns."""
    return [jitter.draw() for _ in range(NUMBER)]


def test_no_hypervisor_adds_nothing() -> None:
    assert set(times(Jitter())) == {0}


def test_without_a_tail_all_times_are_as_probable() -> None:
    """Uniform up to the maximum: half of it on average, a tenth of them below a tenth."""
    found = times(Jitter(100 * US))
    assert 0 <= min(found) < US
    assert 99 * US < max(found) < 100 * US
    assert mean(found) == pytest.approx(50 * US, rel=0.01)
    assert sum(time < 10 * US for time in found) == pytest.approx(NUMBER / 10, rel=0.05)


def test_the_tail_halves_with_each_slice() -> None:
    """One in a hundred is late; half of these by one slice, a quarter by two."""
    found = times(Jitter(100 * US, 5 * MS, 100))
    slices = [time // (5 * MS) for time in found if time >= 5 * MS]
    assert len(slices) == pytest.approx(NUMBER / 100, rel=0.1)
    for number in (1, 2, 3):
        assert slices.count(number) == pytest.approx(len(slices) / 2**number, rel=0.2)
    assert max(slices) > 6


def test_a_tail_needs_both_numbers() -> None:
    assert max(times(Jitter(10, 5 * MS, 0))) < 10
    assert max(times(Jitter(10, 0, 100))) < 10


def test_each_run_is_the_same() -> None:
    assert times(Jitter(100 * US, MS, 10)) == times(Jitter(100 * US, MS, 10))
