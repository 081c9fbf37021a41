# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Again and again the kernel attempts to suspend a SCSI disk that has requests, which a cap holds up.
# Each attempt freezes the queue for a moment, and fails. test_runtime_suspend.py judges.

modprobe sd_mod
modprobe scsi_debug dev_size_mb=64
wait_for 10 test -b /dev/sda
load htbs
scheduler sda htbs
cg app
reserve app sda bw=400K burst=4K latency=1000000 max=400K
run=held
export JOB="--filename=/dev/sda --size=32m --time_based --ioengine=libaio"
job app 5 --rw=randread --iodepth=32 &
sleep 1
events=/sys/kernel/tracing/events
echo 1 >$events/htbs/htbs_drain/enable
echo 1 >$events/rpm/rpm_return_int/enable
expect_put OK 1 /sys/block/sda/device/power/autosuspend_delay_ms
expect_put OK auto /sys/block/sda/device/power/control
sleep 3
expect_put OK on /sys/block/sda/device/power/control
cp /sys/kernel/tracing/trace trace
wait
scheduler sda none
