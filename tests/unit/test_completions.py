"""The ring of completions between threads: include/htbs/completions.h."""

import json
import subprocess

import pytest

from tests.unit.host import ROOT, TOOLS

_SOURCE = ROOT / "tests/unit/smp/completions.c"


@pytest.fixture(scope="module")
def outcome(tmp_path_factory) -> dict[str, int]:
    """What the threads saw: three that put 50,000 each, and two at a time for two seconds."""
    program = tmp_path_factory.mktemp("smp") / "completions"
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-pthread", "-Wall", "-Wextra", "-Werror",
                    f"-I{_SOURCE.parent}", f"-I{ROOT}/include", f"-I{TOOLS}/include",
                    "-o", program, _SOURCE], check=True)
    done = subprocess.run([program, "3", "50000", "2"], capture_output=True, text=True,
                          check=True, timeout=120)
    return json.loads(done.stdout)


def test_each_completion_is_accounted_for_once_and_in_order(outcome):
    assert outcome["lost"] == 0
    assert outcome["disorder"] == 0


def test_a_ring_that_is_full_takes_no_completion(outcome):
    assert outcome["room"] == outcome["entries"]


def test_no_completion_is_left_once_something_waits_for_it(outcome):
    """The CPU that completes it and the one that begins to wait cannot both miss the other."""
    assert outcome["rounds"] > 100
    assert outcome["left"] == 0
