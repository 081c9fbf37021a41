# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Write-back for a cgroup with little memory and a limit on what it may write, beside one without.

disk nullb0 size=128 completion_nsec=2000000
load htbs
scheduler nullb0 htbs
on_ext4 /dev/nullb0
echo +memory >$CG/cgroup.subtree_control
cg a b
reserve a nullb0 bw=1M
reserve b nullb0 bw=1M
# With memory.max alone all that memory comes to wait for io.max, and the kernel kills the writer,
# whatever the scheduler is.
expect_put OK 16M $CG/a/memory.high
expect_put OK 24M $CG/a/memory.max
expect_put OK "$(dev nullb0) wbps=4194304" $CG/a/io.max
for group in a b; do
	# Not of the group's memory.
	dd if=/dev/urandom of=/tmp/$group bs=1M count=32 status=none
	in_cg $group cp /tmp/$group /tmp/mnt/$group &
done
wait
sync
for group in a b; do
	[ "$(stat_of $group nullb0 wbytes)" -ge 33554432 ] || fail "$group: $(cat $CG/$group/io.htbs.stat)"
done
remount
for group in a b; do
	cmp /tmp/$group /tmp/mnt/$group || fail "$group's file is not what was written"
	rm /tmp/$group
done
off_ext4 /dev/nullb0
for group in a b .; do
	adds_up $group nullb0
done
