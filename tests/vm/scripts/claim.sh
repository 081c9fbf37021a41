# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A disk that claims to seek, and serves requests side by side: while requests are pending and in
# flight, HTBS takes it for one that does not seek. One that does stays what it is. test_claim.py
# judges.

# readers DISK RUN: two groups with a reservation, and one without, for a second.
readers()
{
	disk=$1 run=$2
	export JOB="--filename=/dev/$disk --size=60m --time_based --ioengine=libaio --rw=randread"
	reserve one "$disk" bw=800K burst=8K latency=20000
	reserve other "$disk" bw=400K burst=8K latency=50000
	job one 1 --iodepth=1 &
	job other 1 --iodepth=4 &
	job rest 1 --iodepth=16 &
	wait
	stats one other rest
	cat "/sys/block/$disk/queue/iosched/seeks" >"$run-seeks"
}

load htbs
cg one other rest

# A millisecond a request, whatever is in flight.
null_disk nullb0 completion_nsec=1000000 hw_queue_depth=32
echo 1 >/sys/block/nullb0/queue/rotational
scheduler nullb0 htbs
expect 1 "$(cat /sys/block/nullb0/queue/iosched/seeks)" "the disk claims to seek"
readers nullb0 side-by-side

# It is asked anew each time that the scheduler is attached.
scheduler nullb0 none
scheduler nullb0 htbs
expect 1 "$(cat /sys/block/nullb0/queue/iosched/seeks)" "the disk claims to seek again"

load simdisk size_mb=64
scheduler sim0 htbs
readers sim0 one-after-the-other
