# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# From scheduler to scheduler every 200 ms, on two disks: hardware queues of two CPUs; a cache that
# wants flushes, completions on the CPU that submitted, by an interrupt if need be, and a cap.

disk nullb0 discard=1
null_disk nullb1 memory_backed=1 cache_size=8 irqmode=1
echo 2 >/sys/block/nullb1/queue/rq_affinity
load htbs
scheduler nullb0 htbs
scheduler nullb1 htbs
load_disk nullb0
reserve a nullb1 bw=64K max=256K
load_from a nullb1 /dev/nullb1 524288 --rw=randwrite --bs=4k --ioengine=libaio --iodepth=8 \
	--fdatasync=8 --thinktime=10000
while more 1; do
	for other in none mq-deadline kyber bfq; do
		scheduler nullb0 $other
		expect "" "$(in_force a nullb0)" "under $other"
		sleep 0.2
		scheduler nullb0 htbs
		expect "bw=10485760 burst=262144 latency=10000" "$(in_force a nullb0)" "after $other"
		scheduler nullb1 $other
		sleep 0.2
		scheduler nullb1 htbs
	done
done
goes_on a nullb1
ended nullb0
adds_up a nullb1
