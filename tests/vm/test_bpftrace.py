"""bpftrace sees every event and its fields."""

import re

import pytest

from tests.vm import Result
from tests.vm.functional import Boot, htbs_stat

pytestmark = pytest.mark.guest

GUEST = Boot("bpftrace", programs=("bpftrace",))


def _map(result: Result, pattern: str) -> dict[str, int]:
    """One of bpftrace's maps, as it prints them: @[key]: value."""
    found = re.findall(rf"^{pattern}: (\d+)$", result.text("bpftrace"), re.MULTILINE)
    return {key: int(value) for key, value in found}


def test_every_event_is_counted(result: Result) -> None:
    count = _map(result, r"@\[tracepoint:htbs:htbs_(\w+)\]")
    assert set(count) - {"hold"} == {
        "arrive", "merge", "dispatch", "complete", "switch",
        "wait_begin", "wait_end", "late", "config", "join", "overload",
    }  # fmt: skip
    stats = [htbs_stat(result.text(f"{group}.stat")) for group in ("random", "sequential")]
    assert count["complete"] == sum(stat["completed"] for stat in stats)
    assert count["late"] == sum(stat["missed"] for stat in stats)
    assert count["wait_begin"] == sum(stat["waits"] for stat in stats)


def test_fields_can_be_used(result: Result) -> None:
    dispatched = _map(result, r"@bytes\[(\d+)\]")
    for group in ("random", "sequential"):
        stat = htbs_stat(result.text(f"{group}.stat"))
        number = result.text(f"{group}.id").strip()
        assert dispatched[number] == stat["rbytes"] + stat["wbytes"]
