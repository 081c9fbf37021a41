# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Write-back for a cgroup with little memory and a limit on what it may write, beside one without.

null_disk nullb0 submit_queues=2 memory_backed=1 size=128
load htbs
scheduler nullb0 htbs
echo +memory >$CG/cgroup.subtree_control
modprobe ext4
mkfs.ext4 -q /dev/nullb0
mkdir -p /tmp/mnt
mount -t ext4 /dev/nullb0 /tmp/mnt
cg a b
reserve a nullb0 bw=1M
reserve b nullb0 bw=1M
expect_put OK 24M $CG/a/memory.max
expect_put OK "$(dev nullb0) wbps=4194304" $CG/a/io.max
for group in a b; do
	mkdir /tmp/mnt/$group
	in_cg $group dd if=/dev/urandom of=/tmp/$group bs=1M count=32 status=none
	in_cg $group cp /tmp/$group /tmp/mnt/$group/file &
done
wait
sync
for group in a b; do
	[ "$(stat_of $group nullb0 wbytes)" -ge 33554432 ] || fail "$group: $(cat $CG/$group/io.htbs.stat)"
done
echo 3 >/proc/sys/vm/drop_caches
for group in a b; do
	cmp /tmp/$group /tmp/mnt/$group/file || fail "$group's file is not what was written"
	rm /tmp/$group
done
umount /tmp/mnt
fsck.ext4 -fn /dev/nullb0 >fsck.log 2>&1 || fail "$(cat fsck.log)"
settled a nullb0
settled b nullb0
