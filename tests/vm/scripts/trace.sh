# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The paper's pair on the simulated disk, with all events recorded by ftrace and by blktrace, and
# the numbers of io.htbs.stat to compare with.

# job GROUP OPTION…
job()
{
	_group=$1
	shift
	in_cg "$_group" fio --name="$_group" --filename=/dev/sim0 --direct=1 --bs=4k --eta=never \
		--time_based --size=1g --runtime=3 "$@" >/dev/null &
}

load simdisk
load htbs
scheduler sim0 htbs
cg random sequential writer

echo 16384 >/sys/kernel/tracing/buffer_size_kb
echo 1 >/sys/kernel/tracing/events/htbs/enable
blktrace -d /dev/sim0 -b 1024 -n 8 &
tracer=$!
wait_for 10 test -e /sys/kernel/debug/block/sim0/trace0

# More is promised than the disk can do in the writer's 5 ms, so some of it comes late.
reserve random sim0 bw=200K burst=8K latency=50000
reserve sequential sim0 bw=800K burst=8K latency=100000
reserve writer sim0 bw=100K burst=64K latency=5000
job random --rw=randread --ioengine=psync
job sequential --rw=read --ioengine=psync --offset=2g
job writer --rw=write --ioengine=libaio --iodepth=16 --offset=4g --rate_iops=40
for _ in 1 2 3 4; do
	sleep 0.5
	cat /sys/kernel/debug/block/sim0/sched/state /sys/kernel/debug/block/sim0/sched/backlog
	cat /sys/kernel/debug/block/sim0/state /sys/kernel/debug/block/sim0/hctx0/busy \
		/sys/kernel/debug/block/sim0/rqos/* >/dev/null 2>&1 || :
done >debugfs
# A reader that the disk waits for, and whose next request doesn't come.
expect_put OK 20000 /sys/block/sim0/queue/iosched/t_wait_us
for name in random sequential writer; do
	wait_for 20 sh -c "! grep -q . $CG/$name/cgroup.procs"
done
# Adjacent requests that wait for the disk, and merge.
in_cg writer fio --name=writer --filename=/dev/sim0 --direct=1 --bs=4k --eta=never --size=256k \
	--rw=write --ioengine=libaio --iodepth=16 >/dev/null
echo 0 >/sys/kernel/tracing/events/htbs/enable
kill -INT $tracer
wait $tracer || :

cp /sys/kernel/tracing/trace trace
grep -h 'entries-in-buffer' trace
for name in random sequential writer; do
	settled $name sim0
	cp "$CG/$name/io.htbs.stat" "$name.stat"
	stat -c %i "$CG/$name" >"$name.id"
done
scheduler sim0 none
rmmod htbs
