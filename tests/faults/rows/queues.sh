# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The number of hardware queues changes, for which blk-mq takes the scheduler away and back.

disk nullb0 poll_queues=0
load htbs
scheduler nullb0 htbs
load_disk nullb0 poll_queues=0
while more 2; do
	for queues in 1 2; do
		expect_put OK $queues /sys/kernel/config/nullb/nullb0/submit_queues
		expect $queues "$(ls /sys/block/nullb0/mq | wc -l)" "hardware queues"
		expect htbs "$(scheduler nullb0)"
		expect "bw=10485760 burst=262144 latency=10000" "$(in_force a nullb0)"
		goes_on a nullb0
	done
done
ended nullb0
