"""A disk that claims to seek, but serves requests side by side, is found not to seek."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot, fio_side

pytestmark = pytest.mark.guest

GUEST = Boot("claim")
_GROUPS = ("one", "other", "rest")


def _seeks(result: Result, run: str) -> int:
    return int(result.text(f"{run}-seeks"))


def test_a_disk_that_serves_side_by_side_does_not_seek(result: Result) -> None:
    assert _seeks(result, "side-by-side") == 0


def test_a_disk_that_serves_one_after_the_other_seeks(result: Result) -> None:
    assert _seeks(result, "one-after-the-other") == 1


def test_readers_have_what_is_served_side_by_side(result: Result) -> None:
    """If reads were served one after the other, all three would have at most 1,000 a second."""
    done = sum(fio_side(result, f"side-by-side-{group}")["iops"] for group in _GROUPS)
    assert done > 4000


def test_the_reservation_is_kept_all_along(result: Result) -> None:
    for group, reserved in (("one", 200), ("other", 100)):
        assert fio_side(result, f"side-by-side-{group}")["iops"] > 0.98 * reserved
