# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# ext4 on a device mapper stripe on an md mirror, whose members are on HTBS; one member fails and
# comes back. The user's cgroup is charged at the members.

# sysfs does without mdadm: a mirror without a superblock, as mdadm --build makes it.
mirror()
{
	modprobe raid1
	echo md_test >/sys/module/md_mod/parameters/new_array
	md=/sys/block/md_test/md
	wait_for 10 test -d $md
	echo none >$md/metadata_version
	echo raid1 >$md/level
	echo 2 >$md/raid_disks
	echo 65536 >$md/component_size
	for disk in nullb0 nullb1; do
		dev $disk >$md/new_dev
	done
	echo 0 >$md/dev-nullb0/slot
	echo 1 >$md/dev-nullb1/slot
	echo none >$md/resync_start
	echo active >$md/array_state
}

load htbs
cg a b
for disk in nullb0 nullb1; do
	null_disk $disk submit_queues=2 memory_backed=1
	scheduler $disk htbs
	reserve a $disk bw=10M burst=256K latency=10000
done
mirror
wait_for 20 test -b /dev/md_test
modprobe dm_mod
dmsetup --noudevrules --noudevsync create stripe \
	--table "0 131072 striped 2 128 /dev/md_test 0 /dev/md_test 65536"
wait_for 20 test -b /dev/mapper/stripe
modprobe ext4
mkfs.ext4 -q /dev/mapper/stripe
mkdir -p /tmp/mnt /tmp/tree
mount -t ext4 /dev/mapper/stripe /tmp/mnt
tree /tmp/tree
in_cg a cp -r /tmp/tree /tmp/mnt/one &
in_cg b cp -r /tmp/tree /tmp/mnt/two &
wait
sync
echo faulty >$md/dev-nullb1/state
in_cg a cp -r /tmp/tree /tmp/mnt/three
sync
wait_for 10 sh -c "echo remove >$md/dev-nullb1/state"
wait_for 10 test ! -e $md/dev-nullb1
dev nullb1 >$md/new_dev
echo 1 >$md/dev-nullb1/slot
echo recover >$md/sync_action
wait_for 60 grep -q in_sync $md/dev-nullb1/state
for copy in one two three; do
	intact /tmp/mnt/$copy
done
[ "$(stat_of a nullb0 rbytes)" -gt 0 ] || fail "a was not charged"
umount /tmp/mnt
fsck.ext4 -fn /dev/mapper/stripe >fsck.log 2>&1 || fail "$(cat fsck.log)"
settled a nullb0
settled a nullb1
dmsetup --noudevrules --noudevsync remove stripe
echo clear >$md/array_state
rm -rf /tmp/tree
