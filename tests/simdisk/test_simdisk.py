"""The simulated drives in guests: what HTBS's defaults depend on, and times."""

import pytest

from tests.vm import Guest, kernels, modules

pytestmark = pytest.mark.guest

TIMES = """
RUNTIME=3
grep -q "hres_active *: 1" /proc/timer_list || fail "the guest has no high-resolution timers"
queue() { expect "$2" "$(cat "/sys/block/sim0/queue/$1")" "$1"; }
job() {
    output=$1
    shift
    fio --eta=never --filename=/dev/sim0 --direct=1 --bs=4k --size=2g --time_based \
        --runtime=$RUNTIME --norandommap --ioengine=libaio --output-format=json \
        --output="$output" "$@"
}
load simdisk
queue rotational 1
scheduler sim0 none
job random --name=r --rw=randread --size=100%
job sequential --name=s --rw=read --runtime=1
job alternating --name=r --rw=randread --name=s --rw=read --offset=2g
rmmod simdisk

load simdisk profile=nearline
queue rotational 1
scheduler sim0 none
job nearline-1 --name=r --rw=randread --size=100%
job nearline-16 --name=r --rw=randread --size=100% --iodepth=16
job nearline-32 --name=r --rw=randread --size=100% --iodepth=32
job nearline-sequential --name=s --rw=read --bs=128k --iodepth=4 --runtime=1
rmmod simdisk

RUNTIME=1
load simdisk profile=tlc
queue rotational 0
scheduler sim0 none
job tlc-1 --name=r --rw=randread --size=100%
job tlc-32 --name=r --rw=randread --size=100% --iodepth=32 --runtime=250ms
job tlc-write --name=w --rw=randwrite --size=100% --iodepth=32
job tlc-both --name=w --rw=write --bs=128k --iodepth=8 --name=r --rw=randread
rmmod simdisk

load simdisk profile=tlc suspend_ns=100000
scheduler sim0 none
job tlc-suspended --name=w --rw=write --bs=128k --iodepth=8 --name=r --rw=randread
rmmod simdisk

load simdisk profile=tlc jitter_ns=100000 tail_ns=5000000 tail_one_in=50
scheduler sim0 none
job tlc-jitter --name=r --rw=randread --size=100%
rmmod simdisk

RUNTIME=3
load simdisk tags=1 budget=0
expect 1 "$(cat /sys/block/sim0/mq/0/nr_tags)" tags
scheduler sim0 none
job one-tag --name=r --rw=randread --size=100% --iodepth=4
rmmod simdisk

load simdisk sectors=39062500 clean_writes=20 clean_ms=200
expect 39062500 "$(cat /sys/block/sim0/size)" sectors
scheduler sim0 none
job shingled --name=w --rw=randwrite --size=100%
rmmod simdisk

load simdisk profile=nearline depth=128 patience_ms=10000 age_permille=100
expect 128 "$(cat /sys/block/sim0/mq/0/nr_tags)" tags
scheduler sim0 none
job nearline-128 --name=r --rw=randread --size=100% --iodepth=128
"""


def test_times() -> None:
    """A guest's fio measures what the model's own test expects, and the host's 20 us or so."""
    kernel = kernels.newest("6.12")
    guest = Guest(kernel, clock="virtual", files=modules.build(kernel), name="simdisk-times",
                  timeout=1200)
    result = guest.run(TIMES)

    def rates(name: str) -> list[float]:
        return [job["read"]["bw_bytes"] for job in result.json(name)["jobs"]]

    assert rates("random") == [pytest.approx(4096 / 0.0132, rel=0.05)]
    assert rates("sequential") == [pytest.approx(26.5e6, rel=0.05)]
    assert rates("alternating") == [pytest.approx(475_000, rel=0.05)] * 2
    for depth, iops in ((1, 79), (16, 170), (32, 210)):
        assert rates(f"nearline-{depth}") == [pytest.approx(4096 * iops, rel=0.1)]
    assert rates("nearline-sequential") == [pytest.approx(268e6, rel=0.03)]
    idle = result.json("tlc-1")["jobs"][0]["read"]
    assert idle["clat_ns"]["percentile"]["50.000000"] == pytest.approx(87_000, rel=0.05)
    assert rates("tlc-32") == [pytest.approx(4096 * 83_000, rel=0.1)]
    assert result.json("tlc-write")["jobs"][0]["write"]["iops"] == pytest.approx(15_000, rel=0.1)
    beside = result.json("tlc-both")["jobs"][1]["read"]
    assert beside["clat_ns"]["percentile"]["50.000000"] > 400_000
    assert beside["clat_ns"]["max"] > 3_000_000  # some behind an erase, which takes 3.8 ms
    suspended = result.json("tlc-suspended")["jobs"][1]["read"]["clat_ns"]
    assert suspended["max"] < 0.9 * beside["clat_ns"]["max"]
    jitter = result.json("tlc-jitter")["jobs"][0]["read"]["clat_ns"]["percentile"]
    assert 95_000 < jitter["50.000000"] < 175_000  # 87 us, and up to 100 more
    assert jitter["95.000000"] < 1_000_000
    assert jitter["99.500000"] > 5_000_000  # 1 in 50 is later
    assert rates("one-tag") == [pytest.approx(4096 / 0.0132, rel=0.05)]
    shingled = result.json("shingled")["jobs"][0]["write"]
    assert 200e6 < shingled["clat_ns"]["max"] < 240e6
    assert shingled["iops"] == pytest.approx(51, rel=0.1)
    # From the start; when the commands have come to be of different ages it is 135.
    assert rates("nearline-128") == [pytest.approx(4096 * 157, rel=0.1)]
