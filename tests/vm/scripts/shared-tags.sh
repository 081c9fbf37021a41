# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Two disks share the driver's tags. Without a scheduler nr_requests of one is how many both have,
# also after the other one was put on HTBS.

# flood: how many requests HTBS has in flight at most, of 64 at a time.
flood()
{
	fio --name=flood --filename=/dev/nullb0 --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=64 \
		--time_based --runtime=2 >/dev/null &
	_most=0
	for _ in 1 2 3 4 5 6 7 8; do
		sleep 0.2
		_sent=$(sed -n 's/^in flight *\([0-9]*\) reads.*/\1/p' /sys/kernel/debug/block/nullb0/sched/state)
		[ "$_sent" -le $_most ] || _most=$_sent
	done
	wait
}

modprobe null_blk nr_devices=2 shared_tags=1 hw_queue_depth=64 irqmode=2 completion_nsec=20000000
grep -q debugfs /proc/mounts || mount -t debugfs debugfs /sys/kernel/debug
other=/sys/block/nullb1/queue
echo none >$other/scheduler
load htbs
expect_put OK 4 $other/nr_requests
scheduler nullb0 htbs
flood
expect 4 "$_most" "requests in flight, of 4 tags"
expect_put OK 64 $other/nr_requests
flood
[ $_most -gt 16 ] || fail "no more than $_most requests are in flight, of 64 tags for two disks"
expect_put OK 4 $other/nr_requests
flood
expect 4 "$_most" "requests in flight, of 4 tags again"
echo "the tags there are now are used"
