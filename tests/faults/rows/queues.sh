# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The number of hardware queues changes, for which blk-mq detaches the scheduler and attaches it
# again. That waits for all requests, also for those that a cap would throttle for minutes.

# Tags of a queue: twice as many as the driver takes.
TAGS=16

# held_up: how many requests the cap throttles, to $held.
held_up()
{
	held=$(sed -n 's/.*: \([0-9]*\) pending, .*, throttled by its cap .*/\1/p' \
		/sys/kernel/debug/block/nullb0/sched/backlog)
}

floods()
{
	held_up
	[ "${held:-0}" -ge $((TAGS / 4 - 1)) ]
}

disk nullb0 poll_queues=0
load htbs
scheduler nullb0 htbs
load_disk nullb0
cg capped
reserve capped nullb0 bw=4K max=4K
flood capped nullb0 --bs=64k
while more 2; do
	for queues in 1 2; do
		expect_put OK $queues /sys/kernel/config/nullb/nullb0/submit_queues
		expect $queues "$(ls /sys/block/nullb0/mq | wc -l)" "hardware queues"
		expect htbs "$(scheduler nullb0)"
		expect "bw=10485760 burst=262144 latency=10000" "$(in_force a nullb0)"
		expect "bw=4096 burst=1048576 latency=1000000 max=4096" "$(in_force capped nullb0)"
		goes_on a nullb0
		# It sees a quarter of the tags, and its share of the last quarter.
		wait_for 20 floods
		[ "$held" -le $((queues * TAGS * 3 / 8)) ] || fail "$held of $((queues * TAGS)) tags"
	done
done
reserve capped nullb0 max=max
ended nullb0
adds_up capped nullb0
