"""The ring of completions between threads: include/htbs/completions.h."""

import pytest

from tests.unit import smp


@pytest.fixture(scope="module")
def outcome(tmp_path_factory) -> dict[str, int]:
    """Return the results: three threads put 50,000 each, then two at a time for two seconds."""
    return smp.outcome("completions", tmp_path_factory.mktemp("smp"), 3, 50_000, 2)


def test_each_completion_is_accounted_for_once_and_in_order(outcome):
    assert outcome["lost"] == 0
    assert outcome["disorder"] == 0


def test_a_ring_that_is_full_takes_no_completion(outcome):
    assert outcome["room"] == outcome["entries"]


def test_no_completion_is_left_once_something_waits_for_it(outcome):
    """The CPU that completes it and the CPU that begins to wait cannot both miss the other."""
    assert outcome["rounds"] > 100
    assert outcome["left"] == 0
