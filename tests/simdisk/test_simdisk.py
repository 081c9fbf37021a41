"""The simulated drives in guests: queue attributes, data, times, removal."""

import pytest

from tests.vm import Guest, kernels, modules

pytestmark = pytest.mark.guest

FUNCTIONAL = """
refused() { if load simdisk "$@" 2>>refused; then fail "accepted: $*"; fi; }
queue() { expect "$3" "$(cat "/sys/block/$1/queue/$2")" "$1 $2"; }
verify() { fio --eta=never --name=v --direct=1 --ioengine=libaio --verify=crc32c --verify_fatal=1 \
    --minimal --output=/dev/null "$@"; }

refused devices=0
refused devices=17
refused size_mb=76320
refused rpm=0
refused nr_hw_queues=65
refused profile=floppy
refused profile=nearline depth=33
refused profile=tlc size_mb=511
refused remove=0

load simdisk size_mb=64
queue sim0 nr_requests 64
queue sim0 rotational 1
queue sim0 write_cache "write through"
queue sim0 logical_block_size 512
queue sim0 discard_max_bytes 0
expect 131072 "$(cat /sys/block/sim0/size)" size
dd if=/dev/urandom of=random bs=64k count=1 status=none
dd if=random of=/dev/sim0 oflag=direct bs=64k status=none
dd if=/dev/sim0 of=got iflag=direct bs=64k count=1 status=none
head -c 64k /dev/zero | cmp - got
rmmod simdisk

load simdisk devices=3 size_mb=64 backing=1 discard=1 write_cache=1 fua=1 rotational=0
queue sim1 rotational 0
queue sim1 write_cache "write back"
queue sim1 fua 1
queue sim1 max_discard_segments 8
for name in none mq-deadline; do
    scheduler sim0 $name
    verify --filename=/dev/sim0 --rw=randwrite --bs=4k --iodepth=16 --size=512k --fsync=32
    verify --filename=/dev/sim0 --rw=write --bsrange=512-300k --iodepth=8 --size=4m
done

dd if=random of=/dev/sim2 oflag=direct bs=64k status=none
cmp -n 65536 random /dev/sim2
blkdiscard -o 4608 -l 8192 /dev/sim2
cp random wanted
dd if=/dev/zero of=wanted bs=512 seek=9 count=16 conv=notrunc status=none
dd if=/dev/sim2 of=got iflag=direct bs=64k count=1 status=none
cmp wanted got
blkdiscard /dev/sim2
dd if=/dev/sim2 of=got iflag=direct bs=64k count=1 status=none
head -c 64k /dev/zero | cmp - got

REMOVE=/sys/module/simdisk/parameters/remove
fio --eta=never --name=load --filename=/dev/sim1 --direct=1 --rw=randrw --ioengine=libaio \
    --iodepth=32 --size=32m --time_based --runtime=60 >fio.log 2>&1 &
wait_for 10 sh -c '! grep -q "^ *0 *0$" /sys/block/sim1/inflight'
if rmmod simdisk 2>/dev/null; then fail "unloaded while in use"; fi
expect_put OK 1 $REMOVE
if wait $!; then fail "fio did not notice that its disk has gone"; fi
[ ! -e /sys/block/sim1 ] || fail "sim1 is still there"
expect_put ENODEV 1 $REMOVE
expect_put ENODEV 16 $REMOVE
expect_put EINVAL x $REMOVE
rmmod simdisk
[ ! -e /sys/block/sim0 ] || fail "sim0 is still there"

load simdisk profile=tlc size_mb=512 backing=1 discard=1
queue sim0 rotational 0
queue sim0 write_cache "write through"
queue sim0 max_discard_segments 1
expect "$(nproc)" "$(ls /sys/block/sim0/mq | wc -l)" "hardware queues"
for name in none mq-deadline; do
    scheduler sim0 $name
    verify --filename=/dev/sim0 --rw=randwrite --bsrange=512-64k --iodepth=16 --size=4m \
        --numjobs=4 --offset_increment=4m
    verify --filename=/dev/sim0 --rw=randtrim --bs=4k --size=4m
done
rmmod simdisk
"""

TIMES = """
RUNTIME=3
grep -q "hres_active *: 1" /proc/timer_list || fail "the guest has no high-resolution timers"
job() {
    output=$1
    shift
    fio --eta=never --filename=/dev/sim0 --direct=1 --bs=4k --size=2g --time_based \
        --runtime=$RUNTIME --norandommap --ioengine=libaio --output-format=json \
        --output="$output" "$@"
}
load simdisk
scheduler sim0 none
job random --name=r --rw=randread --size=100%
job sequential --name=s --rw=read --runtime=1
job alternating --name=r --rw=randread --name=s --rw=read --offset=2g
rmmod simdisk

load simdisk profile=nearline
scheduler sim0 none
job nearline-1 --name=r --rw=randread --size=100%
job nearline-16 --name=r --rw=randread --size=100% --iodepth=16
job nearline-32 --name=r --rw=randread --size=100% --iodepth=32
job nearline-sequential --name=s --rw=read --bs=128k --iodepth=4 --runtime=1
rmmod simdisk

RUNTIME=1
load simdisk profile=tlc
scheduler sim0 none
job tlc-1 --name=r --rw=randread --size=100%
job tlc-32 --name=r --rw=randread --size=100% --iodepth=32 --runtime=250ms
job tlc-write --name=w --rw=randwrite --size=100% --iodepth=32
job tlc-both --name=w --rw=write --bs=128k --iodepth=8 --name=r --rw=randread
"""


@pytest.mark.parametrize(("series", "clock"), [("6.12", "real"), ("6.1", "virtual")])
def test_functions(series: str, clock: str) -> None:
    """Parameters, queue attributes, data, discard, removal."""
    kernel = kernels.newest(series)
    guest = Guest(kernel, clock, files=modules.build(kernel), name=f"simdisk-{series}", cpus=4)
    messages = guest.run(FUNCTIONAL).dmesg
    for text in ("devices: must be 1 to 16", "size_mb: must not be above the profile's 76319",
                 "size_mb: must be 512 to 65536 for flash", "rpm: must be 1 to 100000",
                 "nr_hw_queues: must be 1 to 64",
                 "profile: must be hd080hj, nearline or tlc", "depth: must be 1 to 32"):
        assert f"simdisk: {text}" in messages


def test_times() -> None:
    """A guest's fio measures what the model's own test expects, and the host's 20 us or so."""
    kernel = kernels.newest("6.12")
    guest = Guest(kernel, clock="virtual", files=modules.build(kernel), name="simdisk-times",
                  timeout=400)
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
