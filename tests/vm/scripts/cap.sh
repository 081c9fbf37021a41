# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Groups with caps, on the simulated disk. test_cap.py judges.

load simdisk write_cache=1
load htbs
scheduler sim0 htbs
cg app greedy
disk=sim0
export JOB="--filename=/dev/sim0 --size=2g --time_based --ioengine=libaio"

# Alone on the disk, ...
run=alone
reserve app sim0 bw=200K burst=64K latency=100000 max=1M
job app 5 --rw=read --iodepth=1 --bs=64k
stats app .
# ... also with requests of the idle class, ...
run=idle
job app 5 --rw=read --iodepth=1 --bs=64k --prioclass=3
# ... but for writes that all groups' flushes wait for, ...
in_cg app timeout 5 fio --name=flushes --filename=/dev/sim0 --rw=write --bs=64k --size=8m --direct=1 \
	--sync=dsync --ioengine=psync --eta=never >flushes.log || fail "the cap holds up flushes"
sleep 9
# ... beside a group that takes the rest, ...
run=without
job greedy 3 --rw=randread --iodepth=32 --offset=2g
run=beside
expect_put OK 40960 /sys/block/sim0/queue/iosched/default_bw
expect_put OK 8192 /sys/block/sim0/queue/iosched/default_burst
reserve app sim0 bw=40K burst=4K max=80K
job greedy 5 --rw=randread --iodepth=32 --offset=2g &
job app 5 --rw=randread --iodepth=1
wait
stats app .

# served CGROUP: requests so far.
served()
{
	stat_of "$1" sim0 completed
}

# held_up RUN: 32 reads wait for a cap of one in a second.
held_up()
{
	run=$1
	reserve app sim0 bw=4K max=4K
	begin=$(served app)
	job app 2 --rw=randread --iodepth=32 &
	reader=$!
	sleep 1
	[ $(($(served app) - begin)) -le 3 ] || fail "$run: the cap does not hold"
}

# ... until it is taken back. What was held up is served at once, ...
held_up back
cp /sys/kernel/debug/block/sim0/sched/state held.state
cp /sys/kernel/debug/block/sim0/sched/backlog held.backlog
reserve app sim0 max=max
sleep 0.8
[ $(($(served app) - begin)) -ge 32 ] || fail "the cap still holds"
wait $reader
stats app .
# ... also when the reservation is taken back, and the group shares the default one.
held_up none
reserve app sim0 none
sleep 0.8
[ $(($(served app) - begin)) -ge 42 ] || fail "the cap outlives its reservation"
wait $reader
# Another scheduler doesn't wait for the cap, and loses nothing.
held_up switch
cut -d' ' -f1 /proc/uptime >switch.times
scheduler sim0 none
cut -d' ' -f1 /proc/uptime >>switch.times
wait $reader
scheduler sim0 htbs
expect "bw=4096 burst=8192 latency=1000000 max=4096" "$(in_force app sim0)"
# Tasks of a capped group that wait for tags take the wakeups of another group's. All of these have
# a tag soon: those that wait are woken as many at a time as there are tags.
expect_put OK 64 /sys/block/sim0/queue/nr_requests
reserve app sim0 bw=4K max=4K
begin=$(served app)
run=crowd
job app 4 --rw=randread --ioengine=psync --thread --numjobs=200 --group_reporting &
reader=$!
sleep 2
job greedy 4 --rw=randread --ioengine=psync --thread --numjobs=80 --group_reporting \
	--time_based=0 --number_ios=1
reserve app sim0 none
wait $reader
reserve app sim0 bw=4K burst=8K latency=1000000
# Of a short queue others see some tags that the cap does not hold up.
expect_put OK 16 /sys/block/sim0/queue/nr_requests
held_up short
cp /sys/kernel/debug/block/sim0/sched/backlog short.backlog
reserve app sim0 none
wait $reader
scheduler sim0 none
rmmod htbs
