# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# nr_requests, every tunable and a reservation change.

null_disk nullb0 submit_queues=2 memory_backed=1
load htbs
scheduler nullb0 htbs
load_disk nullb0
queue=/sys/block/nullb0/queue
while busy; do
	for value in 4 128 17 64; do
		expect_put OK $value $queue/nr_requests
		expect_put OK $value $queue/iosched/b_max
		expect_put OK $((value * 100)) $queue/iosched/t_wait_us
		expect_put OK $((value * 4096)) $queue/iosched/default_bw
		expect_put OK $([ $value = 17 ] && echo slack || echo paper) $queue/iosched/policy
		reserve a nullb0 bw=$((value * 65536)) latency=$((value * 1000))
	done
	rounds=$((rounds + 1))
done
ended 1 nullb0
