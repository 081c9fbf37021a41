# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Polled requests hold the tags of their hardware queue until their task polls. Others have tags of
# their own, and do not wait for them.

# read_one: a read that is not polled; how long it may take is far more than it does.
read_one()
{
	timeout 60 dd if=/dev/nullb0 of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null ||
		fail "a read waits for requests that nothing polls"
}

null_disk nullb0 completion_nsec=100000 hw_queue_depth=16 poll_queues=1
expect 1 "$(cat /sys/block/nullb0/queue/io_poll)" "the disk polls"
load htbs
scheduler nullb0 htbs
expect_put OK 64 /sys/block/nullb0/queue/nr_requests
fio --name=polled --filename=/dev/nullb0 --direct=1 --rw=randread --bs=4k --ioengine=io_uring --hipri \
	--iodepth=64 --thread --time_based --runtime=3600 >/dev/null &
polls=$!
sleep 1
# Stopped at any moment, it leaves some in flight; how many is a matter of chance.
most=0
for _ in 1 2 3 4 5 6 7 8; do
	kill -STOP $polls
	read_one
	# shellcheck disable=SC2046
	set -- $(cat /sys/block/nullb0/inflight)
	[ "$1" -le $most ] || most=$1
	kill -CONT $polls
	sleep 0.2
done
[ "$most" -ge 16 ] || fail "no more than $most polled requests are in flight, of 16 tags"
kill $polls
wait $polls || true
read_one
echo "reads do not wait for polled requests"
