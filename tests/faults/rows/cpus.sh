# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A CPU, and with it a hardware queue, goes offline and online. I/O goes on in both states.

disk nullb0
load htbs
scheduler nullb0 htbs
load_disk nullb0
while more 2; do
	for online in 0 1; do
		expect_put OK $online /sys/devices/system/cpu/cpu1/online
		for group in a b c; do
			goes_on $group nullb0
		done
	done
done
ended nullb0
