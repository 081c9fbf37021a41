# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A SCSI disk that is busy, loses its transport, corrects errors, doesn't answer until the command
# is aborted, and has unreadable sectors. The first four may take time, but no data.

scsi_disk ndelay=200000 submit_queues=2
load htbs
disk=$scsi
echo 1 >"/sys/block/$disk/device/timeout"
# EVERY OPTS: host busy, transport error, recovered error, no answer.
for fault in "3 0x8000" "20 0x10" "7 0x8" "400 0x4"; do
	scheduler "$disk" htbs
	load_disk "$disk" $((LOAD / 4 + 1))
	sleep 0.2
	# shellcheck disable=SC2086
	inject $fault
	wait
	inject 0 0
	ended 0 "$disk"
	[ "$(stat_of a "$disk" completed)" -gt 0 ] || fail "nothing was done"
	scheduler "$disk" none
done

# Sectors 4660 to 4669 are bad; who reads them hears of it, others don't.
scheduler "$disk" htbs
reserve a "$disk" bw=1M
load_disk "$disk" 2
inject 0 0x2
for _ in 1 2 3 4 5; do
	in_cg a dd if="/dev/$disk" of=/dev/null bs=512 skip=4660 count=10 iflag=direct \
		status=none 2>/dev/null && fail "bad sectors were read"
done
inject 0 0
ended 0 "$disk"
