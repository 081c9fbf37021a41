# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A real driver, $driver, whose disk of QEMU is on HTBS with ext4 on top: file trees are written and
# read back while the scheduler changes, and when it doesn't.

# disk_of DRIVER: the disk of that driver.
disk_of()
{
	local path
	for path in /sys/block/*; do
		case $1:$(realpath "$path") in
		virtio-blk:*/virtio*/block/vd* | virtio-scsi:*/virtio*/host*/block/sd* | \
			nvme:*/nvme/*/nvme*n* | ahci:*/ata*/block/sd*) basename "$path" ;;
		esac
	done
}

# cp_both COPY: the tree is copied from the group a and from b.
cp_both()
{
	in_cg a cp -r /tmp/tree "/tmp/mnt/$1-a" &
	in_cg b cp -r /tmp/tree "/tmp/mnt/$1-b"
	wait $!
}

case $driver in
virtio-*) modprobe "${driver/-/_}" ;;
*) modprobe "$driver" ;;
esac
case $driver in
virtio-scsi | ahci) modprobe sd_mod ;;
esac
wait_for 30 sh -c 'ls /sys/block | grep -q "^[vsn][dv]"'
for _ in $(seq 100); do
	disk=$(disk_of "$driver")
	[ -z "$disk" ] || break
	sleep 0.2
done
[ -n "$disk" ] || fail "no disk of $driver: $(realpath /sys/block/*)"
wait_for 20 test -b "/dev/$disk"
echo "$driver: $disk"

load htbs
scheduler "$disk" htbs
on_ext4 "/dev/$disk"
cg a b
reserve a "$disk" bw=20M burst=1M latency=20000
tree /tmp/tree
(
	while [ ! -e enough ]; do
		for other in none mq-deadline htbs; do
			scheduler "$disk" $other
			echo $other >>switches
			sleep 0.2
		done
	done
) &
switcher=$!
: >>switches
# A fast disk has it all before the first switch.
until [ "$(wc -l <switches)" -ge 6 ]; do
	rm -rf /tmp/mnt/one-*
	cp_both one
	remount
	intact /tmp/mnt/one-a /tmp/mnt/one-b
done
touch enough
wait $switcher
rm enough switches
cp_both two
remount
intact /tmp/mnt/*-[ab]
verify a file /tmp/mnt/file --rw=randrw --bs=4k --ioengine=libaio --iodepth=32
[ ! -e failed ] || fail "$(cat failed)"
off_ext4 "/dev/$disk"
adds_up a "$disk"
adds_up . "$disk"
[ "$(stat_of a "$disk" completed)" -gt 0 ] || fail "a did nothing"
rm -rf /tmp/tree
