# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The number of hardware queues changes, for which blk-mq takes the scheduler away and back.

null_disk nullb0 submit_queues=2 memory_backed=1
load htbs
scheduler nullb0 htbs
load_disk nullb0
while busy; do
	for queues in 1 2; do
		expect_put OK $queues /sys/kernel/config/nullb/nullb0/submit_queues
	done
	expect htbs "$(scheduler nullb0)"
	expect "bw=10485760 burst=262144 latency=10000" "$(in_force a nullb0)"
	rounds=$((rounds + 1))
done
ended 2 nullb0
