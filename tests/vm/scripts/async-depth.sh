# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# queue/async_depth, of kernels from 7.0 on: with HTBS it starts with all tags, whatever the last
# scheduler had, and limits what is no synchronous read.

# flood OPERATION: how many requests 128 at a time have outstanding, at most.
flood()
{
	fio --name="$1" --filename=/dev/nullb0 --direct=1 --rw="$1" --bs=4k --ioengine=libaio --iodepth=128 \
		--time_based --runtime=1 >/dev/null &
	_most=0
	for _ in 1 2 3 4 5; do
		sleep 0.1
		# shellcheck disable=SC2046
		set -- $(cat /sys/block/nullb0/inflight)
		[ $(($1 + $2)) -le $_most ] || _most=$(($1 + $2))
	done
	wait
}

null_disk nullb0 completion_nsec=20000000 hw_queue_depth=128
depth=/sys/block/nullb0/queue/async_depth
[ -e $depth ] || exit 0
modprobe kyber-iosched
scheduler nullb0 kyber
load htbs
scheduler nullb0 htbs
expect "$(cat /sys/block/nullb0/queue/nr_requests)" "$(cat $depth)" "async_depth after a switch"
flood randwrite
[ $_most -gt 32 ] || fail "without a limit $_most writes are outstanding, at most"
expect_put OK 8 $depth
flood randwrite
expect 8 "$_most" "writes outstanding, at most"
flood randread
[ $_most -gt 32 ] || fail "with a limit for others $_most reads are outstanding, at most"
# It follows nr_requests.
expect_put OK $((2 * $(cat /sys/block/nullb0/queue/nr_requests))) /sys/block/nullb0/queue/nr_requests
expect 16 "$(cat $depth)" "async_depth with twice the tags"
echo "async_depth is obeyed"
