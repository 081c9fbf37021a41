# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The bandwidth of groups on the simulated disk, and their tags on a fast one. test_reservation.py
# judges.

load simdisk
load htbs
scheduler sim0 htbs
cg app greedy flood1 flood3 rest idle
export JOB="--size=2g --time_based --ioengine=libaio"

disk=sim0
JOB="--filename=/dev/sim0 $JOB"

# A reader within its reservation beside one that is always backlogged.
run=greedy
reserve app sim0 bw=100K burst=8K latency=60000
job greedy 5 --rw=randread --iodepth=32 --offset=2g &
job app 5 --rw=randread --iodepth=1 --rate_iops=20
wait
stats app .

# The same without the scheduler, to see that the reservation made the difference.
run=none
scheduler sim0 none
job greedy 3 --rw=randread --iodepth=32 --offset=2g &
job app 3 --rw=randread --iodepth=1 --rate_iops=20
wait
scheduler sim0 htbs

# Two groups that flood, reserved 1 : 3, and one with the default reservation.
run=shares
reserve flood1 sim0 bw=20K burst=8K latency=100000
reserve flood3 sim0 bw=60K burst=8K latency=100000
expect_put OK 40960 /sys/block/sim0/queue/iosched/default_bw
expect_put OK 8192 /sys/block/sim0/queue/iosched/default_burst
job flood1 10 --rw=randread --iodepth=16 &
job flood3 10 --rw=randread --iodepth=16 --offset=2g &
job rest 10 --rw=randread --iodepth=16 --offset=4g &
wait
stats flood1 flood3

# The same three with as much reserved each, and weights 1 : 3 : 1.
run=weights
reserve flood1 sim0 bw=20K weight=100
reserve flood3 sim0 bw=20K weight=300
reserve rest sim0 bw=20K burst=8K latency=100000 weight=100
job flood1 20 --rw=randread --iodepth=16 &
job flood3 20 --rw=randread --iodepth=16 --offset=2g &
job rest 20 --rw=randread --iodepth=16 --offset=4g &
wait
reserve flood1 sim0 weight=default
reserve flood3 sim0 weight=default
expect "bw=20480 burst=8192 latency=100000" "$(in_force flood1 sim0)"
reserve rest sim0 none

# The idle class alone, ...
run=idle-alone
job idle 2 --rw=randread --ioengine=psync --prioclass=3
# ... beside a group that conforms and leaves room, ...
run=idle-beside
reserve app sim0 bw=400K burst=8K latency=60000
job idle 5 --rw=randread --iodepth=32 --prioclass=3 &
job app 5 --rw=randread --iodepth=1 --rate_iops=20
wait
stats app
# ... and beside a group with a reservation for more than the disk has.
run=idle-flood
reserve flood1 sim0 bw=10M burst=1M latency=100000
job idle 5 --rw=randread --ioengine=psync --prioclass=3 --offset=2g &
job flood1 5 --rw=randread --iodepth=16
wait
# Only the timer ends a reader's last wait: all that is pending is one request, which is not due
# soon. Each wait but the first finds the timer set for an earlier one.
run=last-wait
reserve app sim0 bw=1M burst=64K latency=100000
reserve flood3 sim0 bw=100K burst=64K latency=5000000
expect_put OK 1000000 /sys/block/sim0/queue/iosched/t_wait_us
job app 800ms --rw=read --ioengine=psync --thinktime=10ms &
sleep 0.4
job flood3 1 --rw=randread --ioengine=psync --offset=2g &
wait_for 20 test -s last-wait-flood3.json
wait
stats app
expect_put OK 10000 /sys/block/sim0/queue/iosched/t_wait_us
scheduler sim0 none

# A flood of 1024 requests and a reader with one outstanding at a time, with 64 tags.
null_disk nullb0 completion_nsec=20000000 hw_queue_depth=32
disk=nullb0
JOB="--filename=/dev/nullb0 --size=64m --time_based --ioengine=libaio"
scheduler nullb0 htbs
expect 64 "$(cat /sys/block/nullb0/queue/nr_requests)" nr_requests
reserve app nullb0 bw=10M burst=64K latency=50000
run=tags
job greedy 1 --rw=randread --iodepth=64 --thread --numjobs=16 --group_reporting &
job app 1 --rw=randread --ioengine=psync
wait
stats app .

# The flood comes from four groups with reservations, 256 from each, 32 at a time. How it begins is
# what matters: five times.
for group in greedy flood1 flood3 rest; do
	reserve "$group" nullb0 bw=1M burst=64K latency=1000000
done
for time in 1 2 3 4 5; do
	run=tags-of-four-$time
	for group in greedy flood1 flood3 rest; do
		job "$group" 500ms --rw=randread --iodepth=64 --iodepth_batch=32 --thread \
			--numjobs=4 --group_reporting &
	done
	job app 500ms --rw=randread --ioengine=psync --write_lat_log=$run
	wait
	stats app
done
scheduler nullb0 none
rmmod htbs
