# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# As for a snapshot, a file system is frozen and thawed; as for a suspend, all processes are.

disk nullb0 completion_nsec=2000000
load htbs
scheduler nullb0 htbs
on_ext4 /dev/nullb0
cg a b
reserve a nullb0 bw=10M
reserve b nullb0 bw=1M
for group in a b; do
	load_from $group nullb0 /tmp/mnt/$group 2097152 --rw=randwrite --bs=4k --ioengine=libaio \
		--iodepth=16
done
begun=$EPOCHSECONDS
echo freezer >/sys/power/pm_test
echo 1 >/sys/module/suspend/parameters/pm_test_delay
while more 1; do
	goes_on a nullb0
	fsfreeze -f /tmp/mnt
	sleep 0.3
	fsfreeze -u /tmp/mnt
	goes_on b nullb0
	expect_put OK freeze /sys/power/state
done
echo none >/sys/power/pm_test
all_right
off_ext4 /dev/nullb0
for group in a b .; do
	adds_up $group nullb0
done
