# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A SCSI disk that is busy, loses its transport, corrects errors, doesn't answer until the command
# is aborted, and has unreadable sectors. The first four may take time, but no data.

# counted COUNTER: how many faults the SCSI layer has seen.
counted()
{
	printf '%d\n' "$(cat "/sys/block/$scsi/device/$1")"
}

BAD=65536
scsi_disk medium_error_start=$BAD
load htbs
echo 1 >"/sys/block/$scsi/device/timeout"
# EVERY OPTS COUNTER: host busy, which isn't counted, transport error, recovered error, no answer.
for fault in "3 0x8000" "20 0x10 ioerr_cnt" "7 0x8 ioerr_cnt" "400 0x4 iotmo_cnt"; do
	read -r every opts counter <<<"$fault"
	scheduler "$scsi" htbs
	load_disk "$scsi"
	goes_on a "$scsi"
	[ -z "$counter" ] || before=$(counted "$counter")
	inject "$every" "$opts"
	sleep $((LOAD / 4))
	ended "$scsi"
	inject 0 0
	[ -z "$counter" ] || [ "$(counted "$counter")" -gt "$before" ] || fail "no fault by $opts"
	scheduler "$scsi" none
done

# Ten sectors are bad; reads of them fail, others succeed.
scheduler "$scsi" htbs
load_disk "$scsi"
inject 0 0x2
for _ in 1 2 3 4 5; do
	in_cg a dd if="/dev/$scsi" of=/dev/null bs=512 skip=$BAD count=10 iflag=direct \
		status=none 2>/dev/null && fail "bad sectors were read"
done
ended "$scsi"
inject 0 0
