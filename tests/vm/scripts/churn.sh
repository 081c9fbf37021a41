# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What may change under load on two CPUs: cgroups, tags, CPUs, tunables; and disks that go.

# in_load NAME OPTION…: fio that verifies its region of the null disk, time-based.
in_load()
{
	local name=$1
	shift
	in_cg "$name" fio --name="$name" --filename=/dev/nullb0 --direct=1 --size=2m --eta=never \
		--verify=crc32c --verify_fatal=1 --time_based "$@" >"$name.log" 2>&1 ||
		echo "$name: $(cat "$name.log")" >>failed
}

# begin SECONDS: two loads, in cgroups a and b.
begin()
{
	in_load a --rw=randrw --bs=4k --ioengine=libaio --iodepth=32 --runtime="$1" &
	in_load b --rw=write --bsrange=4k-32k --ioengine=io_uring --iodepth=8 --offset=8m \
		--runtime="$1" &
}

busy()
{
	[ "$(jobs -r | wc -l)" -gt 0 ]
}

# ended WHAT LEAST: the load is over, all data is right, and something was done at least so often.
ended()
{
	wait
	[ ! -e failed ] || fail "$1: $(cat failed)"
	echo "$1: $rounds rounds"
	[ "$rounds" -ge "$2" ] || fail "$1: $rounds rounds"
	rounds=0
	settled a nullb0
	settled b nullb0
}

null_disk nullb0 submit_queues=2 memory_backed=1
load htbs
scheduler nullb0 htbs
cg a b
reserve a nullb0 bw=4M burst=256K latency=10000
reserve b nullb0 bw=1M
rounds=0

# Cgroups are made, given a reservation, moved to, left and removed.
begin 6
while busy; do
	cg "c$rounds/d"
	for pid in $(cat $CG/b/cgroup.procs); do
		put "$pid" "$CG/c$rounds/d/cgroup.procs" >/dev/null || :
	done
	reserve "c$rounds/d" nullb0 bw=2M
	reserve "c$rounds" nullb0 bw=4M
	reserve "c$rounds/d" nullb0 none
	cat "$CG/c$rounds/d/io.htbs" "$CG/c$rounds/d/io.htbs.stat" /sys/kernel/debug/block/nullb0/sched/* >/dev/null
	for pid in $(cat "$CG/c$rounds/d/cgroup.procs"); do
		put "$pid" $CG/b/cgroup.procs >/dev/null || :
	done
	wait_for 5 rmdir "$CG/c$rounds/d"
	wait_for 5 rmdir "$CG/c$rounds"
	rounds=$((rounds + 1))
done
ended cgroups 3

# Tags, tunables, reservations.
begin 6
queue=/sys/block/nullb0/queue
while busy; do
	for value in 4 128 17 64; do
		expect_put OK $value $queue/nr_requests
		expect_put OK $value $queue/iosched/b_max
		expect_put OK $((value * 100)) $queue/iosched/t_wait_us
		expect_put OK $((value * 4096)) $queue/iosched/default_bw
		reserve a nullb0 bw=$((value * 65536)) latency=$((value * 1000))
	done
	rounds=$((rounds + 1))
done
ended tunables 1

# CPUs, and with them hardware queues.
begin 6
cpu=/sys/devices/system/cpu/cpu1/online
while busy; do
	expect_put OK 0 $cpu
	sleep 0.2
	expect_put OK 1 $cpu
	sleep 0.2
	rounds=$((rounds + 1))
done
ended CPUs 2

# The number of hardware queues, for which blk-mq takes the scheduler away and back.
begin 4
while busy; do
	for queues in 1 2; do
		expect_put OK $queues /sys/kernel/config/nullb/nullb0/submit_queues
	done
	expect htbs "$(scheduler nullb0)"
	[ "$(in_force a nullb0)" = "bw=4194304 burst=262144 latency=64000" ] || fail "$(cat $CG/a/io.htbs)"
	rounds=$((rounds + 1))
done
wait
[ ! -e failed ] || fail "queues: $(cat failed)"

# Disks that go under load: what is in flight fails or succeeds, and ends.
modprobe scsi_debug dev_size_mb=16 ndelay=1000000 submit_queues=2
load simdisk
wait_for 20 test -b /dev/sda
for disk in nullb0 sda sim0; do
	scheduler $disk htbs
	reserve a $disk bw=1M
	in_cg a fio --name=gone --filename=/dev/$disk --direct=1 --size=8m --eta=never --rw=randrw \
		--ioengine=libaio --iodepth=32 --time_based --runtime=60 >/dev/null 2>&1 &
	load=$!
	wait_for 20 grep -q '[1-9]' /sys/block/$disk/inflight
	sleep 1
	case $disk in
	nullb0) echo 0 >/sys/kernel/config/nullb/nullb0/power ;;
	sda) echo 1 >/sys/block/sda/device/delete ;;
	sim0) echo 0 >/sys/module/simdisk/parameters/remove ;;
	esac
	wait_for 20 test ! -e /sys/block/$disk
	wait $load && fail "the load on $disk didn't notice"
	expect 0 "$(grep -c . $CG/a/io.htbs)" "lines when $disk is gone"
done
rmmod htbs
