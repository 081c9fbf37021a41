# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A cap throttles all that a group has outstanding, so that it would take hours. Meanwhile the
# last CPU of a hardware queue goes offline, and all processes are frozen as for a suspend.

# within SECONDS STRING FILE: a write to the file succeeds in that time.
within()
{
	local limit=$1 begin=$EPOCHSECONDS
	shift
	expect_put OK "$@"
	[ $((EPOCHSECONDS - begin)) -le $((limit * PATIENCE)) ] || fail "$2: $((EPOCHSECONDS - begin)) s"
}

disk nullb0 completion_nsec=2000000
load htbs
scheduler nullb0 htbs
cg t
throttled()
{
	[ "$(sed -n 's/.*: \([0-9]*\) pending.*throttled by its cap.*/\1/p' \
		/sys/kernel/debug/block/nullb0/sched/backlog)" -ge 8 ]
}
# Enough of what is throttled belongs to the queue of the CPU that goes offline.
queue_throttled()
{
	throttled && [ "$(sed -n 's/^busy=//p' /sys/kernel/debug/block/nullb0/hctx1/sched_tags)" -ge 4 ]
}
begun=$EPOCHSECONDS
echo freezer >/sys/power/pm_test
echo 1 >/sys/module/suspend/parameters/pm_test_delay
while more 1; do
	reserve t nullb0 bw=4K burst=4K max=4K
	for cpu in 0 1; do
		in_cg t fio --thread --name=$cpu --cpus_allowed=$cpu --numjobs=8 \
			--filename=/dev/nullb0 --direct=1 --eta=never --rw=randwrite --bs=64k \
			--ioengine=psync --time_based --runtime=3600 >/dev/null 2>&1 &
	done
	wait_for 30 queue_throttled
	number t/io.htbs.stat nullb0 completed
	within 15 0 /sys/devices/system/cpu/cpu1/online
	completes t nullb0 $((number + 2)) || fail "what the queue had is not done"
	within 15 1 /sys/devices/system/cpu/cpu1/online
	wait_for 30 throttled
	within 15 freeze /sys/power/state
	wait_for 30 throttled
	busybox killall -q -9 fio || :
	reserve t nullb0 max=max
	wait
done
echo none >/sys/power/pm_test
adds_up t nullb0
