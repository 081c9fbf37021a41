# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module goes and comes back.

null_disk nullb0 submit_queues=2 memory_backed=1
load htbs
scheduler nullb0 htbs
load_disk nullb0
while busy; do
	expect_put OK none /sys/block/nullb0/queue/scheduler
	rmmod htbs
	sleep 0.1
	load htbs
	scheduler nullb0 htbs
	reserve a nullb0 bw=10M burst=256K latency=5000
	reserve b nullb0 bw=1M
	sleep 0.1
	rounds=$((rounds + 1))
done
ended 2 nullb0
