# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A queue is frozen while writes of surplus wait for their quota, on flash. It is low for the sake of
# a reader that had a pause, so its next request is expected for long. It cannot arrive while the
# queue is frozen. test_freeze.py judges.

load simdisk profile=tlc
load htbs
scheduler sim0 htbs
cg app greedy
reserve app sim0 bw=2M burst=64K latency=2000
expect_put OK 256 /sys/block/sim0/queue/nr_requests
export JOB="--filename=/dev/sim0 --size=4g --time_based --ioengine=libaio"

# held_back WRITES: so many are pending.
held_back()
{
	[ "$(sed -n 's/.*: \([0-9]*\) pending.*/\1/p' /sys/kernel/debug/block/sim0/sched/backlog |
		sort -n | tail -1)" -ge "$1" ]
}

# timed NAME WRITES STRING FILE: a write to the file, while so many writes are held back; the clock
# before and after goes to NAME.times.
timed()
{
	wait_for 5 held_back "$2"
	cp /sys/kernel/debug/block/sim0/sched/backlog "$1.backlog"
	cut -d' ' -f1 /proc/uptime >"$1.times"
	expect_put OK "$3" "$4"
	cut -d' ' -f1 /proc/uptime >>"$1.times"
}

run=before
job app 2 --rw=randread --iodepth=1 --rate_iops=250
sleep 20
run=beside
job app 60 --rw=randread --iodepth=1 --rate_iops=250 &
job greedy 60 --rw=randwrite --iodepth=256 --bs=512k --offset=4g &
sleep 3
echo 1 >/sys/kernel/tracing/events/htbs/htbs_drain/enable
timed resize 100 128 /sys/block/sim0/queue/nr_requests
sleep 1
timed switch 50 none /sys/block/sim0/queue/scheduler
cp /sys/kernel/tracing/trace trace
busybox killall fio
wait
rmmod htbs
