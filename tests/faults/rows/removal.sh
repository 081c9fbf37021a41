# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Disks go under load: what is in flight fails or succeeds, and ends. The last one goes while it
# is on another scheduler and a cgroup still has a reservation for it.

disk nullb0
scsi_disk
load simdisk devices=2
load htbs
cg a
for disk in nullb0 "$scsi" sim0 sim1; do
	scheduler "$disk" htbs
	reserve a "$disk" bw=1M
	in_cg a fio --name=gone --filename="/dev/$disk" --direct=1 --size=8m --eta=never \
		--rw=randrw --ioengine=libaio --iodepth=32 --time_based --runtime=600 \
		>/dev/null 2>&1 &
	load=$!
	wait_for 20 grep -q '[1-9]' "/sys/block/$disk/inflight"
	goes_on a "$disk"
	[ "$disk" != sim1 ] || scheduler sim1 none
	case $disk in
	nullb0) echo 0 >/sys/kernel/config/nullb/nullb0/power ;;
	sim*) echo "${disk#sim}" >/sys/module/simdisk/parameters/remove ;;
	*) echo 1 >"/sys/block/$disk/device/delete" ;;
	esac
	wait_for 20 test ! -e "/sys/block/$disk"
	wait $load && fail "the load on $disk didn't notice"
	expect 0 "$(grep -c . $CG/a/io.htbs)" "lines when $disk is gone"
done
