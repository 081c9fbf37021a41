# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Random writes to io.htbs and the tunables, as many as $IN/writes-how says (SEED COUNT), while
# requests are pending.

null_disk nullb0 completion_nsec=1000000 hw_queue_depth=4
load htbs
scheduler nullb0 htbs
cg written other
reserve written nullb0 none
in_cg other fio --name=load --filename=/dev/nullb0 --direct=1 --rw=randrw --bs=4k --size=32m \
	--ioengine=libaio --iodepth=8 --rate_iops=100 --time_based --runtime=3600 >/dev/null 2>&1 &
read -r seed count <"$IN/writes-how"
for event in config share cap tunables; do
	echo 1 >/sys/kernel/tracing/events/htbs/htbs_$event/enable
done
# Each takes a debug kernel forty times as long.
[ "$PATIENCE" = 1 ] || count=$((count / 10))
"$IN/writes" "$seed" "$count" /sys/block/nullb0/queue/iosched $CG/written "$(dev nullb0)" \
	/sys/kernel/tracing/trace_pipe ||
	fail "a write did what it should not have done"
killall fio
wait || :
scheduler nullb0 none
rmmod htbs
