"""Record random mixes of I/O in a guest and replay them: python -m tests.vm.conformance --seed N.

A mix has cgroups with reservations, fio jobs of these on each disk, and changes while they run: of
reservations, tunables, cgroups. The seed determines all of it. On the virtual clock the disk is
simulated; on the real clock there are two CPUs, and disks with two hardware queues.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterable, Iterator

from tests.vm import GuestError, SetupError, boot, replay
from tests.vm.functional import SERIES, Boot

KIB, MIB = 1 << 10, 1 << 20

# The pair of the demonstration (results/demo.py), for some seconds.
DEMO = """
scheduler sim0 htbs
cg random sequential
reserve random sim0 bw=200K burst=8K latency=50000
reserve sequential sim0 bw=800K burst=8K latency=100000
job random sim0 --rw=randread --bs=4k --size=2g --runtime=2
job sequential sim0 --rw=read --bs=4k --offset=2g --size=2g --runtime=2
ended
left random sequential
scheduler sim0 none
"""

# A sequential and six random readers reserve more than the disk has.
OVERLOAD = """
scheduler sim0 htbs
cg stream random1 random2 random3 random4 random5 random6
reserve stream sim0 bw=30M burst=64K latency=100000
job stream sim0 --rw=read --bs=16k --size=512m --ioengine=libaio --iodepth=16 --runtime=4
for n in 1 2 3 4 5 6; do
	reserve random$n sim0 bw=${n}00K burst=16K latency=${n}0000
	job random$n sim0 --rw=randread --bs=4k --offset=$((512 * n))m --size=512m --ioengine=libaio \\
		--iodepth=8 --runtime=4
done
ended
left stream random1 random2 random3 random4 random5 random6
scheduler sim0 none
"""

# On a disk that reorders, a writer is held back so that the requests of a reader are in time.
HELD = """
rmmod simdisk
load simdisk profile=nearline size_mb=4096
scheduler sim0 htbs
cg reader writer
reserve reader sim0 bw=160K burst=4K latency=60000
job reader sim0 --rw=randread --bs=4k --size=2g --ioengine=libaio --iodepth=8 --rate_iops=20 \\
	--rate_process=poisson --runtime=2
job writer sim0 --rw=randwrite --bs=64k --offset=2g --size=2g --ioengine=libaio --iodepth=32 \\
	--runtime=2
ended
settled reader sim0
settled writer sim0
left reader writer
scheduler sim0 none
"""

# On the same disk: more sequential readers than can be in time in the worst case. One has many
# requests in flight.
CROWD = """
scheduler sim0 htbs
cg read1 read2 read3 read4 read5 read6 read7
for n in 1 2 3 4 5 6 7; do
	reserve read$n sim0 bw=1G burst=1G latency=100000
	depth=1
	[ $n = 7 ] && depth=8
	job read$n sim0 --rw=read --bs=64k --offset=$((512 * n))m --size=256m --ioengine=libaio \\
		--iodepth=$depth --runtime=1
done
ended
left read1 read2 read3 read4 read5 read6 read7
scheduler sim0 none
"""

# Tasks that look up files have metadata pending when their group gets a cap, and afterwards: more
# than may be urgent at once.
PASSED = """
rmmod simdisk
load simdisk size_mb=4096 backing=1
modprobe ext4
mke2fs /dev/sim0 65536 >mke2fs
mkdir /tmp/mnt
mount -t ext4 /dev/sim0 /tmp/mnt
# The kernel doesn't mark readahead as metadata.
echo 0 >/sys/fs/ext4/sim0/inode_readahead_blks
for n in $(seq 60); do
	mkdir /tmp/mnt/$n
	echo $n >/tmp/mnt/$n/file
done
sync
scheduler sim0 htbs
cg tenant
reserve tenant sim0 bw=100K burst=64K latency=1000000
job tenant sim0 --rw=randread --bs=4k --offset=1g --size=1g --ioengine=libaio --iodepth=16 \\
	--runtime=8
for n in 05 08 10 12 15 20; do
	echo 3 >/proc/sys/vm/drop_caches
	tasks=
	for first in 1 2 3 4 5 6 7 8 9; do
		in_cg tenant ls -lR /tmp/mnt/$first* >files$first &
		tasks="$tasks $!"
	done
	sleep 0.$n
	reserve tenant sim0 max=100K
	wait $tasks
	reserve tenant sim0 max=max
done
ended
umount /tmp/mnt
left tenant
scheduler sim0 none
"""

# Groups without a reservation share one. That reservation changes, gets a cap and loses it; one of
# the groups gets a reservation of its own and gives it back. All of this happens with requests
# pending.
SHARED = """
rmmod simdisk
load simdisk size_mb=4096
scheduler sim0 htbs
cg random stream writer
job random sim0 --rw=randread --bs=4k --size=1g --ioengine=libaio --iodepth=8 --runtime=4
job stream sim0 --rw=read --bs=64k --offset=1g --size=1g --ioengine=libaio --iodepth=4 --runtime=4
job writer sim0 --rw=randwrite --bs=16k --offset=2g --size=1g --ioengine=libaio --iodepth=8 \\
	--runtime=4
sleep 0.5
tune sim0 default_bw 200000
sleep 0.5
reserve random sim0 bw=100K burst=8K latency=50000
sleep 0.5
reserve . sim0 bw=300K burst=64K latency=200000 weight=100
sleep 0.5
reserve random sim0 none
sleep 0.5
reserve . sim0 max=2M
sleep 0.5
reserve . sim0 max=max
sleep 0.5
reserve . sim0 none
ended
settled random sim0
settled stream sim0
settled writer sim0
settled . sim0
left random stream writer
scheduler sim0 none
"""

_FUNCTIONS = """
# job CGROUP DISK OPTION…: fio in the background.
job()
{
	_group=$1 _disk=$2
	shift 2
	in_cg "$_group" fio --name="$_group" --filename="/dev/$_disk" --direct=1 --time_based \\
		--eta=never "$@" >/dev/null 2>>fio.log &
	jobs="$jobs $!"
}

# ended: all jobs are over, and none failed.
ended()
{
	for _job in $jobs; do
		wait "$_job" || fail "fio: $(cat fio.log)"
	done
	jobs=
}

# entered CGROUP: its job has begun.
entered()
{
	wait_for 30 grep -q . "$CG/$1/cgroup.procs"
}

# left CGROUP…: the groups are removed.
left()
{
	for _group in "$@"; do
		wait_for 30 rmdir "$CG/$_group"
	done
}

# tune DISK TUNABLE VALUE
tune()
{
	expect_put OK "$3" "/sys/block/$1/queue/iosched/$2"
}

jobs=
"""

_DISKS = {"virtual": ("sim0",), "real": ("nullb0", "sda")}
_SCRIPTS = {"virtual": "conformance", "real": "conformance-queues"}
_GROUPS = ("a", "b", "c/d")
_SECONDS = {"virtual": 4, "real": 3}
_CHANGES = 6


def recording(clock: str, seeds: Iterable[int]) -> Boot:
    """Return the guest that records the mixes of the seeds, one after the other."""
    mixes = [_FUNCTIONS, DEMO, OVERLOAD] if clock == "virtual" else [_FUNCTIONS]
    mixes += [mix(clock, seed) for seed in seeds]
    mixes += [HELD, CROWD, SHARED, PASSED] if clock == "virtual" else []
    return Boot(
        _SCRIPTS[clock],
        clock=clock,
        modules=("sd_mod", "ext4", "crc32c_generic"),
        files=(("mix.sh", "".join(mixes)),),
    )


def mix(clock: str, seed: int) -> str:
    """Return the shell commands of a mix."""
    rng = random.Random(seed)
    disks, seconds = _DISKS[clock], _SECONDS[clock]
    lines = [f"echo seed {seed}"]
    lines += [f"scheduler {disk} htbs" for disk in disks]
    lines += [f"cg {' '.join(_GROUPS)}"]
    for disk in disks:
        lines += [_reserve(rng, group, disk) for group in rng.sample(_GROUPS, 2)]
        lines += [_tune(rng, disk)]
        jobs = 3 if len(disks) == 1 else 2
        lines += [_hesitant(rng.choice(_GROUPS), disk, seconds)]
        lines += [_buffered(random.Random(f"{seed} {disk}").choice(_GROUPS), disk, seconds)]
        lines += [_job(rng, rng.choice(_GROUPS), disk, seconds) for _ in range(jobs)]
    lines += _changes(rng, disks, seconds)
    lines += ["ended", "left c/d a b c"]
    lines += [f"scheduler {disk} none" for disk in disks]
    return "\n".join(_shared(seed, line) for line in lines) + "\n"


def _changes(rng: random.Random, disks: tuple[str, ...], seconds: int) -> Iterator[str]:
    """Yield the changes that are made while the jobs run."""
    for _ in range(_CHANGES):
        yield f"sleep {seconds / (_CHANGES + 2):g}"
        disk = rng.choice(disks)
        yield rng.choice(
            [
                _reserve(rng, rng.choice(_GROUPS), disk),
                _reserve(rng, rng.choice(_GROUPS), disk),
                f"reserve {rng.choice(_GROUPS)} {disk} none",
                _tune(rng, disk),
                _tune(rng, disk),
                f"cg e; {_job(rng, 'e', disk, 1)}; entered e; left e",
            ]
        )


def _reserve(rng: random.Random, group: str, disk: str) -> str:
    bw = rng.choice([4 * KIB, 200 * KIB, 800 * KIB, 5 * MIB, 1 << 40])
    burst = rng.choice([4 * KIB, 8 * KIB, 100_000, MIB])
    latency = rng.choice([1, 5_000, 50_000, 1_000_000])
    return f"reserve {group} {disk} bw={bw} burst={burst} latency={latency}"


def _shared(seed: int, line: str) -> str:
    """Add weights to most reservations if the seed is even, and caps if it is odd.

    Some reservations are also for operations, or for operations only.
    """
    if not line.startswith("reserve ") or line.endswith(" none"):
        return line
    rng = random.Random(f"{seed} {line}")
    if seed % 2 == 0:
        line += f" weight={rng.choice(['default', 1, 100, 1000, 10_000])}"
        return f"{line} iops={rng.choice(['max', 'max', 30, 200])}"
    # No smaller caps, because at its end a job waits for its requests in flight.
    cap = rng.choice([0, 4 * MIB, 16 * MIB])
    bw = int(re.search(r" bw=(\d+)", line)[1])
    line += f" max={max(bw, cap) if cap else 'max'}"
    iops = rng.choice(["max", 30, 200, 1000])  # no more than the smallest cap
    return f"{line} iops={iops}" + rng.choice(["", " bw=max"] if iops != "max" else [""])


def _tune(rng: random.Random, disk: str) -> str:
    name, value = rng.choice(
        [
            ("t_wait_us", rng.choice([0, 1, 3_000, 10_000, 50_000])),
            ("t_wait_us", rng.choice([10_000, 30_000])),
            ("late_one_in", rng.choice([10, 1000, 100_000])),
            ("late_one_in_writes", rng.choice([10, 100_000])),
            ("default_bw", rng.choice([4096, 3_000_000])),
        ]
    )
    return f"tune {disk} {name} {value}"


def _hesitant(group: str, disk: str, seconds: int) -> str:
    """A sequential reader for which the disk is idled, sometimes needlessly."""
    return (
        f"job {group} {disk} --rw=read --bs=4k --size=32m --ioengine=psync --runtime={seconds}"
        " --thinktime=60000 --thinktime_blocks=30"
    )


def _buffered(group: str, disk: str, seconds: int) -> str:
    """A buffered writer: the kernel takes all other I/O for synchronous.

    No other job writes there.
    """
    return (
        f"job {group} {disk} --rw=randwrite --bs=4k --offset=48m --size=16m --ioengine=psync"
        f" --direct=0 --sync_file_range=write:8 --rate_iops=200 --runtime={seconds}"
    )


def _job(rng: random.Random, group: str, disk: str, seconds: int) -> str:
    """A fio job. Half of the jobs are synchronous; the regions are small, so that they overlap."""
    patterns = ["read", "read", "randread", "write", "randwrite", "randrw", "rw"]
    options = {
        "rw": rng.choice([*patterns, "randtrim"] if disk == "sim0" else patterns),
        "bsrange": rng.choice(["4k-4k", "4k-4k", "512-512", "64k-64k", "4k-256k"]),
        "size": rng.choice(["1m", "32m"]),
        "offset": rng.choice(["0", "0", "16m"]),
        "runtime": seconds,
        "randrepeat": 0,  # otherwise the seed would not change the blocks
        "randseed": rng.randrange(1 << 32),
    }
    if rng.random() < 0.5:
        options |= {"ioengine": "psync"}
        if rng.random() < 0.5:
            options |= {"thinktime": rng.choice([200, 2_000, 8_000])}
    else:
        depth = rng.choice([2, 8, 32])
        batch = rng.choice([1, max(1, depth // 2)])
        options |= {"ioengine": "libaio", "iodepth": depth, "iodepth_batch": batch}
        if disk != "sim0" or rng.random() < 0.5:
            options |= {"rate_iops": rng.choice([50, 300])}
    if rng.random() < 0.15:
        options |= {"prioclass": 3}
    if rng.random() < 0.2:
        options |= {"fdatasync": rng.choice([1, 4])}
    words = " ".join(f"--{key}={value}" for key, value in options.items())
    return f"job {group} {disk} {words}"


def main() -> int:
    """Record the mix of a seed on a kernel and replay it."""
    parser = argparse.ArgumentParser(prog="python -m tests.vm.conformance", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="of the mix")
    parser.add_argument("--clock", choices=boot.CLOCKS, default="virtual")
    parser.add_argument("--kernel", choices=SERIES, default=SERIES[-1], help="series")
    arguments = parser.parse_args()
    result = recording(arguments.clock, [arguments.seed]).run(arguments.kernel)
    print(f"recording: {result.out / 'trace'}")
    return replay.main([str(result.out / "trace")])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (GuestError, SetupError) as error:
        sys.exit(f"conformance: {error}")
