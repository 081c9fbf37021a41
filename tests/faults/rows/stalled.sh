# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Not a row of the matrix: a disk that never takes its request, to be found by the stall detector.

scsi_disk
load htbs
scheduler "$scsi" htbs
# The guest can't end before the disk takes its request.
(
	sleep $((40 * PATIENCE))
	inject 0 0
) &
inject 1 0x8000
dd if="/dev/$scsi" of=/dev/null bs=4k count=1 iflag=direct status=none
