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
cg a
for disk in nullb0 nullb1; do
	disk $disk completion_nsec=2000000
	scheduler $disk htbs
	reserve a $disk bw=10M burst=256K latency=10000
done
mirror
wait_for 20 test -b /dev/md_test
modprobe dm_mod
dmsetup --noudevrules --noudevsync create stripe \
	--table "0 131072 striped 2 128 /dev/md_test 0 /dev/md_test 65536"
wait_for 20 test -b /dev/dm-0
on_ext4 /dev/dm-0
tree /tmp/tree
cp -r /tmp/tree /tmp/mnt/one &
load_from a dm-0 /tmp/mnt/file 2097152 --rw=randwrite --bs=4k --ioengine=libaio --iodepth=16
goes_on a nullb1
echo faulty >$md/dev-nullb1/state
cp -r /tmp/tree /tmp/mnt/two
wait_for 10 sh -c "echo remove >$md/dev-nullb1/state"
wait_for 10 test ! -e $md/dev-nullb1
goes_on a nullb0
dev nullb1 >$md/new_dev
# The rebuild may have begun already.
echo recover >$md/sync_action 2>/dev/null || :
wait_for 60 grep -q in_sync $md/dev-nullb1/state
goes_on a nullb1
all_right
remount
intact /tmp/mnt/one /tmp/mnt/two
for disk in nullb0 nullb1; do
	[ "$(stat_of a $disk wbytes)" -gt 0 ] || fail "a was not charged on $disk"
done
off_ext4 /dev/dm-0
for disk in nullb0 nullb1; do
	adds_up a $disk
	adds_up . $disk
done
rm -rf /tmp/tree
