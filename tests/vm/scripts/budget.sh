# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A driver that has one tag and no budget, and one that has a budget: two readers with reservations
# on the simulated disk. test_budget.py judges.

load htbs
cg random stream
disk=sim0
export JOB="--filename=/dev/sim0 --size=2g --time_based --ioengine=psync"

# readers RUN: both for eight seconds. Of three, a tenth is what the scheduler learns of the disk at
# first.
readers()
{
	run=$1
	expect_put OK 64 /sys/block/sim0/queue/nr_requests
	reserve random sim0 bw=200K burst=8K latency=50000
	reserve stream sim0 bw=800K burst=8K latency=100000
	job random 8 --rw=randread &
	job stream 8 --rw=read --offset=2g
	wait
	stats random stream
	rmmod simdisk
}

load simdisk tags=1 budget=0
expect 1 "$(cat /sys/block/sim0/mq/0/nr_tags)" "tags of a driver with one"
scheduler sim0 htbs
readers one

load simdisk
expect 32 "$(cat /sys/block/sim0/mq/0/nr_tags)" "tags of a disk"
scheduler sim0 htbs
readers budget

# More tags than the disk takes: the rest waits in front of it.
load simdisk tags=64 budget=0
expect 64 "$(cat /sys/block/sim0/mq/0/nr_tags)" "tags of a driver with many"
scheduler sim0 htbs
readers many
rmmod htbs
