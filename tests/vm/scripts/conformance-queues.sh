# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Recordings on two CPUs: random mixes ($IN/mix.sh) on disks with a hardware queue for each, one of
# which gives requests back.

null_disk nullb0 submit_queues=2 completion_nsec=1000000 hw_queue_depth=8
modprobe sd_mod
modprobe scsi_debug dev_size_mb=64 ndelay=2000000 submit_queues=2 max_queue=8
wait_for 20 test -b /dev/sda
# The transport fails now and then.
echo 20 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
echo 0x10 >/sys/bus/pseudo/drivers/scsi_debug/opts
load htbs
record
. "$IN/mix.sh"
recorded
rmmod htbs
