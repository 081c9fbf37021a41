"""Which reservations would fit, and which are too much."""

import argparse
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htbsctl import admission
from htbsctl.__main__ import main
from htbsctl.commands import check
from htbsctl.failure import Exit, Failure
from htbsctl.promise import Promise

MS = 10**6
promises = st.builds(
    Promise,
    st.just("one"),
    st.integers(4096, 1 << 24),
    st.integers(4096, 1 << 20),
    st.integers(1, 500).map(lambda ms: ms * MS),
)


def arguments(**keys):
    given_ = dict.fromkeys(("bw", "burst", "latency", "iops", "capacity"))
    return argparse.Namespace(**(given_ | {"device": "sdb", "json": True} | keys))


def answer(host, capsys, code, **keys):
    assert check.run(host, arguments(**keys)) == code
    return json.loads(capsys.readouterr().out)


@given(st.lists(promises, max_size=4), promises, st.integers(4096, 1 << 26))
def test_proposed_values_fit_and_larger_ones_do_not(others, new, capacity):
    def kept(**keys):
        every = [*others, new._replace(**keys)]
        return admission.shortfall(every, capacity, 4096) is None

    if kept():
        return
    fits = check._fits(others, new, capacity, 4096)
    for key, value in fits.items():
        unit, worse = (1000, -1) if key == "latency" else (1, 1)
        assert kept(**{key: value * unit})
        assert not kept(**{key: (value + worse) * unit})


def test_the_default_reservation_counts(host, capsys):
    """1 MiB/s, 1 MiB at once, within a second: 2 MiB and a request, in a second."""
    found = answer(host, capsys, Exit.DONE, capacity="4M")
    assert found["needs"] == (1 << 20) + 4096
    assert answer(host, capsys, Exit.FOUND, capacity="1M")["too_much"] == [
        "the default reservation"
    ]


def test_a_group_counts(host, capsys):
    host.group("/app", "8:16 bw=4194304 burst=4096 latency=1000000\n8:0 bw=8 burst=1 latency=1\n")
    assert answer(host, capsys, Exit.DONE, capacity="8M")["needs"] == 5 << 20
    found = answer(host, capsys, Exit.FOUND, capacity="8M", bw="6M", burst="4K", latency="1s")
    assert found["too_much"] == ["/app", "the new one"]
    assert found["fits"] == {"bw": 3 << 20}


def test_the_proposed_reservation_can_be_kept(host, capsys):
    """Numbers for people are rounded; those for the command line are not."""
    sizes = {"default_bw": 65536, "default_burst": 65536, "capacity_bw": 1_000_000}
    for file, value in sizes.items():
        host.put(f"/sys/block/sdb/queue/iosched/{file}", f"{value}\n")
    words = ["check", "sdb", "--bw", "200K", "--burst", "64K", "--latency", "10ms"]
    assert main(words, host) == Exit.FOUND
    text = capsys.readouterr().out
    found = re.findall(r"it could with (--\w+) (\w+) instead: \w+ (.*)", text)
    assert found == [("--burst", "5904", "5.766 KiB"), ("--latency", "69632us", "69.63 ms")]
    for option, value, _ in found:
        assert main([*words, option, value], host) == Exit.DONE


def test_the_root_has_the_default_reservation_or_its_own(host, capsys):
    host.group("/", "8:16 bw=4194304 burst=4096 latency=1000000\n")
    assert answer(host, capsys, Exit.DONE, capacity="8M")["needs"] == 4 << 20


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "htbsctl calibrate sdb measures it"),
        ({"capacity": "4M", "latency": "1s"}, "nothing to check: give --bw or --iops"),
        ({"device": "sda", "capacity": "4M"}, "sda is not on HTBS: htbsctl enable sda"),
    ],
)
def test_questions_that_cannot_be_answered(host, keys, words):
    with pytest.raises(Failure, match=words):
        check.run(host, arguments(**keys))
