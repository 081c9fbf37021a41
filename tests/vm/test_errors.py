"""Every refused write returns its errno and changes nothing."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

NOT_A_NUMBER = ("x", "-1", "+5", " 5", "5 6", "1.5", "0x10", "1e3", "5K", "5x", "--", "\u00b2")
TOO_LONG = (str(2**64), str(2**70), "9" * 400, str(-(2**63)))

# Values out of range, the smallest and the largest good value.
TUNABLES = {
    "t_wait_us": (("1000001", str(2**32)), "0", "1000000"),
    "late_one_in": (("0", "9", "100001", str(2**32 + 10)), "10", "100000"),
    "late_one_in_writes": (("0", "9", "100001", str(2**32 + 10)), "10", "100000"),
    "default_bw": (("0", "4095", str(2**40 + 1)), "4096", str(2**40)),
    "default_burst": (("0", "4095", str(2**32 + 1)), "4096", str(2**32)),
    "default_latency_us": (("0", "100000001", str(2**54)), "1", "100000000"),
}

# For a group with or without a reservation; @NAME stands for the MAJ:MIN of a device.
RESERVATIONS = {
    # syntax
    "\\n": "EINVAL",
    "garbage": "EINVAL",
    "bw=1M": "EINVAL",
    "8": "EINVAL",
    "8: bw=1M": "EINVAL",
    "@htbs": "EINVAL",
    "@htbs ": "EINVAL",
    "@htbs,bw=1M": "EINVAL",
    "@htbs garbage": "EINVAL",
    "@htbs bw": "EINVAL",
    "@htbs bw=": "EINVAL",
    "@htbs bw=1M burst": "EINVAL",
    "@htbs bw =1M": "EINVAL",
    "@htbs bw=1M,burst=64K": "EINVAL",
    "@htbs BW=1M": "EINVAL",
    "@htbs 1M": "EINVAL",
    "@htbs bw=1M rate=2M": "EINVAL",
    "@htbs Weight=100": "EINVAL",
    "@htbs None": "EINVAL",
    "@htbs none bw=1M": "EINVAL",
    "@htbs bw=1M none": "EINVAL",
    "@htbs nonesuch": "EINVAL",
    "@htbs bw=none": "EINVAL",
    "@htbs bw=max": "EINVAL",
    "@htbs bw=1M\\n@htbs bw=2M": "EINVAL",
    "@htbs bw=1M\\nburst=64K": "EINVAL",
    # numbers
    "@htbs bw=-1": "EINVAL",
    "@htbs bw=+1048576": "EINVAL",
    "@htbs bw=0x100000": "EINVAL",
    "@htbs bw=1.5M": "EINVAL",
    "@htbs bw=1Q": "EINVAL",
    "@htbs bw=1MB": "EINVAL",
    "@htbs bw=1KK": "EINVAL",
    "@htbs bw=M": "EINVAL",
    "@htbs bw=1M burst=64Z": "EINVAL",
    "@htbs bw=1M latency=5ms": "EINVAL",
    "@htbs bw=1M latency=5K": "EINVAL",
    "@htbs bw=1M latency=-5": "EINVAL",
    f"@htbs bw={2**64}": "EINVAL",
    f"@htbs bw={2**70}": "EINVAL",
    f"@htbs bw={2**44}M": "EINVAL",
    # 1M, if the carry is lost.
    f"@htbs bw={2**44 + 1}M": "EINVAL",
    f"@htbs bw={2**54}K": "EINVAL",
    f"@htbs bw={'9' * 400}": "EINVAL",
    f"@htbs bw=1M burst={2**64 + 65536}": "EINVAL",
    f"@htbs bw=1M latency={2**64 + 5000}": "EINVAL",
    f"@htbs bw=1M latency={2**64 // 1000 + 1}": "EINVAL",
    # ranges
    "@htbs bw=0": "EINVAL",
    "@htbs bw=4095": "EINVAL",
    f"@htbs bw={2**40 + 1}": "EINVAL",
    "@htbs bw=2T": "EINVAL",
    "@htbs bw=1M burst=0": "EINVAL",
    "@htbs bw=1M burst=4095": "EINVAL",
    f"@htbs bw=1M burst={2**32 + 1}": "EINVAL",
    "@htbs bw=1M latency=0": "EINVAL",
    "@htbs bw=1M latency=100000001": "EINVAL",
    "@htbs bw=1M weight=0": "EINVAL",
    "@htbs bw=1M weight=10001": "EINVAL",
    "@htbs bw=1M weight=-1": "EINVAL",
    "@htbs bw=1M weight=1K": "EINVAL",
    "@htbs bw=1M weight=": "EINVAL",
    "@htbs bw=1M weight=none": "EINVAL",
    "@htbs bw=1M weight=defaults": "EINVAL",
    f"@htbs bw=1M weight={2**32 + 100}": "EINVAL",
    f"@htbs bw=1M weight={2**64 + 100}": "EINVAL",
    "@htbs bw=4096 max=0": "EINVAL",
    "@htbs bw=4096 max=0K": "EINVAL",
    "@htbs bw=4096 max=4095": "EINVAL",
    "@htbs bw=4096 max=-1": "EINVAL",
    "@htbs bw=4096 max=": "EINVAL",
    "@htbs bw=4096 max=none": "EINVAL",
    "@htbs bw=4096 max=maxi": "EINVAL",
    f"@htbs bw=4096 max={2**40 + 1}": "EINVAL",
    f"@htbs bw=4096 max={2**64 + 4096}": "EINVAL",
    "@htbs bw=4096 iops=0": "EINVAL",
    "@htbs bw=4096 iops=-1": "EINVAL",
    "@htbs bw=4096 iops=": "EINVAL",
    "@htbs bw=4096 iops=none": "EINVAL",
    "@htbs bw=4096 iops=maxi": "EINVAL",
    "@htbs bw=4096 iops=1.5": "EINVAL",
    f"@htbs bw=4096 iops={2**28 + 1}": "EINVAL",
    f"@htbs bw=4096 iops={2**32 + 1}": "EINVAL",
    f"@htbs bw=4096 iops={2**64 + 1}": "EINVAL",
    # neither
    "@htbs bw=max iops=max": "EINVAL",
    "@htbs iops=10 iops=max bw=max": "EINVAL",
    # less than is reserved
    "@htbs bw=max iops=10 max=40959": "EINVAL",
    "@htbs bw=2M max=1M": "EINVAL",
    "@htbs bw=1M max=2M bw=4M": "EINVAL",
    # a good key beside a bad one
    "@htbs latency=7000 bw=0": "EINVAL",
    "@htbs bw=2M burst=128K latency=0": "EINVAL",
    # devices
    "4095:0 bw=1M": "ENODEV",
    "0:0 bw=1M": "ENODEV",
    "999999:999999 bw=1M": "ENODEV",
    "@partition bw=1M": "ENODEV",
    "@none bw=1M": "EOPNOTSUPP",
    "@none none": "EOPNOTSUPP",
    "@bio bw=1M": "EOPNOTSUPP",
}

# Valid only for a group with a reservation: it changes one number.
FIRST_NAMES_BW = {
    "@htbs burst=64K": "EINVAL",
    "@htbs latency=5000": "EINVAL",
    "@htbs weight=100": "EINVAL",
    "@htbs weight=default": "EINVAL",
    "@htbs max=1M": "EINVAL",
    "@htbs max=max": "EINVAL",
    "@htbs iops=max": "EINVAL",
    "@htbs burst=64K latency=5000": "EINVAL",
}

# Applied one after the other; the values are what is read afterwards.
GOOD_RESERVATIONS = {
    "none": "bw=4096 burst=4096 latency=1 default",
    "bw=4096": "bw=4096 burst=4096 latency=1",
    "burst=4K": "bw=4096 burst=4096 latency=1",
    "latency=100000000": "bw=4096 burst=4096 latency=100000000",
    "bw=1T burst=4G latency=1": f"bw={2**40} burst={2**32} latency=1",
    "bw=1M bw=2M": f"bw={2**21} burst={2**32} latency=1",
    "bw=1g": f"bw={2**30} burst={2**32} latency=1",
    "  latency=50000   burst=64k  bw=2m  ": "bw=2097152 burst=65536 latency=50000",
    "weight=10000": "bw=2097152 burst=65536 latency=50000 weight=10000",
    "latency=1": "bw=2097152 burst=65536 latency=1 weight=10000",
    "weight=1 weight=7": "bw=2097152 burst=65536 latency=1 weight=7",
    "weight=default": "bw=2097152 burst=65536 latency=1",
    "max=4M": "bw=2097152 burst=65536 latency=1 max=4194304",
    "bw=4M weight=7": "bw=4194304 burst=65536 latency=1 weight=7 max=4194304",
    "weight=default max=1T": f"bw=4194304 burst=65536 latency=1 max={2**40}",
    "max=5M max=max": "bw=4194304 burst=65536 latency=1",
    "iops=1": "bw=4194304 burst=65536 latency=1 iops=1",
    "iops=256M max=4M": f"bw=4194304 burst=65536 latency=1 max=4194304 iops={2**28}",
    "bw=max iops=1K": "bw=max burst=65536 latency=1 max=4194304 iops=1024",
    "max=max weight=7": "bw=max burst=65536 latency=1 weight=7 iops=1024",
    "bw=1M iops=max": "bw=1048576 burst=65536 latency=1 weight=7",
}


def _lines(table: list[tuple[str, ...]]) -> str:
    return "".join("|".join(row) + "\n" for row in table)


BAD_TUNABLES = [
    (name, string)
    for name, (out_of_range, _, _) in TUNABLES.items()
    for string in (*NOT_A_NUMBER, *TOO_LONG, *out_of_range)
]
# The smallest values come last, for GOOD_RESERVATIONS.
GOOD_TUNABLES = [(name, good) for name, (_, low, high) in TUNABLES.items() for good in (high, low)]

GUEST = Boot(
    "errors",
    modules=("sd_mod",),
    programs=("setpriv",),
    files=(
        ("tunables", _lines(BAD_TUNABLES)),
        ("good-tunables", _lines(GOOD_TUNABLES)),
        ("reservations", _lines([(string,) for string in (*RESERVATIONS, *FIRST_NAMES_BW)])),
        ("good-reservations", _lines(list(GOOD_RESERVATIONS.items()))),
    ),
)


def test_tunables(result: Result) -> None:
    wanted = [f"{name}|{string}|EINVAL" for name, string in BAD_TUNABLES]
    assert result.text("tunables").splitlines() == wanted


def test_group_without_reservation(result: Result) -> None:
    wanted = [f"{line}|{errno}" for line, errno in (RESERVATIONS | FIRST_NAMES_BW).items()]
    assert result.text("reservations-none").splitlines() == wanted


def test_group_with_reservation(result: Result) -> None:
    lines = result.text("reservations-own").splitlines()
    wanted = [f"{line}|{errno}" for line, errno in RESERVATIONS.items()]
    assert lines[: len(wanted)] == wanted
    assert all("|OK" in line for line in lines[len(wanted) :])


def test_deleted_cgroup(result: Result) -> None:
    assert "No such device" in result.text("gone")


def test_unprivileged_owner_of_a_cgroup(result: Result) -> None:
    assert result.text("unprivileged").split() == ["EPERM", "EACCES"]
