# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Disks go under load: what is in flight fails or succeeds, and ends; what a cap would hold up for
# minutes, too. The last one goes while it is on another scheduler and cgroups still have
# reservations for it.

disk nullb0
scsi_disk
load simdisk devices=2
load htbs
cg a b
for disk in nullb0 "$scsi" sim0 sim1; do
	scheduler "$disk" htbs
	reserve a "$disk" bw=1M
	reserve b "$disk" bw=4K max=4K
	in_cg a fio --name=gone --filename="/dev/$disk" --direct=1 --size=8m --eta=never \
		--rw=randrw --ioengine=libaio --iodepth=32 --time_based --runtime=600 \
		>/dev/null 2>&1 &
	load=$!
	in_cg b dd if="/dev/$disk" of=/dev/null bs=256k iflag=direct status=none 2>/dev/null &
	capped=$!
	wait_for 20 grep -q '[1-9]' "/sys/block/$disk/inflight"
	goes_on a "$disk"
	wait_for 20 grep -q 'stopped by its cap' "/sys/kernel/debug/block/$disk/sched/backlog"
	[ "$disk" != sim1 ] || scheduler sim1 none
	case $disk in
	nullb0) echo 0 >/sys/kernel/config/nullb/nullb0/power ;;
	sim*) echo "${disk#sim}" >/sys/module/simdisk/parameters/remove ;;
	*) echo 1 >"/sys/block/$disk/device/delete" ;;
	esac
	wait_for 20 test ! -e "/sys/block/$disk"
	wait $load && fail "the load on $disk didn't notice"
	# It ends, though not with an error: a disk that is gone has no blocks to read.
	wait $capped || :
	for group in a b; do
		expect 0 "$(grep -c . $CG/$group/io.htbs)" "lines of $group when $disk is gone"
	done
done
