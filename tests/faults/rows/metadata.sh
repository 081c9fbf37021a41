# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A group with a small cap, which throttles all that it has outstanding, reads metadata of ext4, for
# which others may wait under a lock: before the cap is set, and after that. So does a task of the
# idle class beside readers that conform.

# looks_up SECONDS COMMAND…: it looks up all files, with metadata from the disk, within that time;
# $at_once: how xargs does that.
at_once=()
looks_up()
{
	local limit=$(($1 * PATIENCE)) begin=$EPOCHSECONDS
	shift
	"$@" busybox xargs "${at_once[@]}" busybox stat -c %s <names >sizes || fail "not found: $*"
	[ "$(busybox wc -l <sizes)" -ge 41 ] || fail "files are missing"
	echo "$((EPOCHSECONDS - begin)) s: $*"
	[ $((EPOCHSECONDS - begin)) -le $limit ] || fail "took $((EPOCHSECONDS - begin)) s: $*"
}

# forget: drop caches, so that the disk is read again.
forget()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
}

disk nullb0 completion_nsec=$takes
load htbs
scheduler nullb0 htbs
on_ext4 /dev/nullb0
mkdir /tmp/mnt/d
tree /tmp/mnt/d
busybox find /tmp/mnt/d -type f >names
head -c 4194304 /dev/zero >/tmp/mnt/flood
# What was written stays in memory until the journal's next checkpoint.
remount
# The kernel doesn't mark readahead as metadata; a lookup by name needs none.
echo 0 >/sys/fs/ext4/nullb0/inode_readahead_blks
cg t a
reserve t nullb0 bw=4K burst=4K max=4K
reserve a nullb0 bw=100M burst=1M latency=1000000
in_cg t fio --thread --name=flood --filename=/tmp/mnt/flood --direct=1 --eta=never --rw=randread \
	--bs=64k --ioengine=libaio --iodepth=16 --time_based --runtime=3600 >/dev/null 2>&1 &
# With more at once than go as urgent, some are pending as any request of the group.
at_once=(-n 1 -P 16)
for delay in 0.1 0.2 0.4; do
	reserve t nullb0 max=max
	forget
	looks_up 10 in_cg t &
	looking=$!
	sleep $delay
	reserve t nullb0 max=4K
	wait $looking
done
at_once=()
wait_for 30 grep -q 'throttled by its cap' /sys/kernel/debug/block/nullb0/sched/backlog
begun=$EPOCHSECONDS
while more 1; do
	forget
	looks_up 10 in_cg t
	grep -q 'throttled by its cap' /sys/kernel/debug/block/nullb0/sched/backlog ||
		fail "the cap throttles nothing"
	in_cg a fio --thread --name=busy --filename=/tmp/mnt/flood --direct=1 --eta=never \
		--rw=randread --bs=4k --ioengine=libaio --iodepth=16 --time_based --runtime=3600 \
		>/dev/null 2>&1 &
	goes_on a nullb0
	forget
	looks_up 10 in_cg . busybox ionice -c 3
done
busybox killall -q -9 fio || :
reserve t nullb0 max=max
wait
off_ext4 /dev/nullb0
