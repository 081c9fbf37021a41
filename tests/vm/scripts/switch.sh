# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# To htbs and away from it, and unloading, while two CPUs and two hardware queues are busy. All
# data is verified.

SECONDS_OF_LOAD=12

# verify NAME DISK OPTION…: fio in its cgroup, which writes and reads back a region of the disk.
verify()
{
	local name=$1 disk=$2
	shift 2
	in_cg "$name" fio --name="$name" --filename="/dev/$disk" --direct=1 --size=2m --eta=never \
		--verify=crc32c --verify_fatal=1 --time_based --runtime=$SECONDS_OF_LOAD "$@" \
		>"$name.log" 2>&1 || echo "$name: $(cat "$name.log")" >>failed
}

# busy: is the load still on?
busy()
{
	[ "$(jobs -r | wc -l)" -gt 0 ]
}

null_disk nullb0 submit_queues=2 memory_backed=1 discard=1
null_disk nullb1 memory_backed=1 cache_size=8 irqmode=1
# Each request completes on the CPU that submitted it, by an interrupt from the other one if need be.
echo 2 >/sys/block/nullb1/queue/rq_affinity
load htbs
cg mixed batched flushing unreserved
scheduler nullb0 htbs
scheduler nullb1 htbs
reserve mixed nullb0 bw=10M burst=256K latency=5000
reserve batched nullb0 bw=1M burst=64K latency=20000
reserve flushing nullb1 bw=1M

verify mixed nullb0 --rw=randrw --bsrange=4k-64k --ioengine=libaio --iodepth=16 &
verify batched nullb0 --rw=write --bs=4k --ioengine=io_uring --iodepth=32 \
	--iodepth_batch=8 --iodepth_batch_complete=8 --offset=8m &
verify unreserved nullb0 --rw=randwrite --bs=4k --ioengine=psync --offset=16m &
verify flushing nullb1 --rw=randwrite --bs=4k --ioengine=libaio --iodepth=8 --fdatasync=8 &

rounds=0
while busy; do
	for other in none mq-deadline kyber bfq; do
		scheduler nullb0 $other
		expect "" "$(in_force mixed nullb0)" "under $other"
		scheduler nullb0 htbs
		expect "bw=10485760 burst=262144 latency=5000" "$(in_force mixed nullb0)" "after $other"
	done
	scheduler nullb0 none
	scheduler nullb1 kyber
	rmmod htbs
	load htbs
	scheduler nullb1 htbs
	scheduler nullb0 htbs
	reserve mixed nullb0 bw=10M burst=256K latency=5000
	reserve flushing nullb1 bw=1M
	rounds=$((rounds + 1))
done
wait
[ ! -e failed ] || fail "$(cat failed)"
echo "$rounds rounds"
[ $rounds -ge 1 ] || fail "$rounds rounds"

for name in mixed flushing; do
	[ $name = mixed ] && disk=nullb0 || disk=nullb1
	settled $name $disk
	[ "$late_max_us" -lt 60000000 ] || fail "$name: late by $late_max_us us"
done
scheduler nullb0 none
scheduler nullb1 none
rmmod htbs
