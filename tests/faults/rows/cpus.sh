# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A CPU, and with it a hardware queue, goes and comes back.

null_disk nullb0 submit_queues=2 memory_backed=1
load htbs
scheduler nullb0 htbs
load_disk nullb0
cpu=/sys/devices/system/cpu/cpu1/online
while busy; do
	expect_put OK 0 $cpu
	sleep 0.2
	expect_put OK 1 $cpu
	sleep 0.2
	rounds=$((rounds + 1))
done
ended 2 nullb0
