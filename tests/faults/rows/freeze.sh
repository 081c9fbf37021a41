# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# As for a snapshot, a file system is frozen and thawed; as for a suspend, all processes are.

null_disk nullb0 submit_queues=2 memory_backed=1
load htbs
scheduler nullb0 htbs
modprobe ext4
mkfs.ext4 -q /dev/nullb0
mkdir -p /tmp/mnt
mount -t ext4 /dev/nullb0 /tmp/mnt
cg a b
reserve a nullb0 bw=10M
for group in a b; do
	verify $group file-$group /tmp/mnt/$group --rw=randrw --bs=4k \
		--ioengine=libaio --iodepth=16 --time_based --runtime="$LOAD" &
done
wait_for 20 test -s /tmp/mnt/a -a -s /tmp/mnt/b
echo freezer >/sys/power/pm_test
echo 1 >/sys/module/suspend/parameters/pm_test_delay
while busy; do
	fsfreeze -f /tmp/mnt
	sleep 0.3
	fsfreeze -u /tmp/mnt
	# Processes that can't be frozen in time are the tracer's of another day, not a disk's.
	expect_put OK freeze /sys/power/state
	rounds=$((rounds + 1))
done
echo none >/sys/power/pm_test
wait
[ ! -e failed ] || fail "$(cat failed)"
[ "$rounds" -ge 1 ] || fail "never frozen"
umount /tmp/mnt
fsck.ext4 -fn /dev/nullb0 >fsck.log 2>&1 || fail "$(cat fsck.log)"
settled a nullb0
echo "$rounds rounds"
