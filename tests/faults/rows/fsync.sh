# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Eight writers of the idle class flush each write (O_DSYNC), beside readers that conform. All other
# flushes of the disk wait for the requests of these writers, which must not wait as background I/O.

# syncs NAME SECONDS OPTION…: another writes blocks of 4k and flushes each; the longest that took, in
# ms, to $longest.
syncs()
{
	local name=$1 seconds=$2
	shift 2
	in_cg v fio --name="$name" --filename=/dev/nullb0 --offset=32m --size=4k --direct=1 --eta=never \
		--rw=write --bs=4k --ioengine=psync --fdatasync=1 --time_based --runtime="$seconds" \
		--output-format=json --output="$name.json" "$@"
	longest=$(busybox awk '/"sync"/ { inside = 1 }
		inside && /"max"/ { gsub(/[^0-9]/, ""); print int($0 / 1000000); exit }' "$name.json")
	[ -n "$longest" ] || fail "no flush: $(cat "$name.json")"
}

# Flushes are needed, and the disk can't force a single write out: a write to be flushed is followed by
# one. Older kernels' null_blk always can, and 6.1 doesn't show such writes to its schedulers anyway.
modprobe null_blk nr_devices=0
grep -q configfs /proc/mounts || mount -t configfs configfs /sys/kernel/config
# There the driver has room for all of them: blk-mq dispatches them before it asks a scheduler.
fua=
depth=32
! grep -q fua /sys/kernel/config/nullb/features || fua=fua=0 depth=1
# shellcheck disable=SC2086
null_disk nullb0 memory_backed=1 cache_size=64 hw_queue_depth=$depth completion_nsec=$takes $fua
[ -z "$fua" ] || expect 0 "$(cat /sys/block/nullb0/queue/fua)" fua
load htbs
scheduler nullb0 htbs
# Else there are but two tags.
expect_put OK 64 /sys/block/nullb0/queue/nr_requests
cg a v
reserve a nullb0 bw=100M burst=1M latency=1000000
reserve v nullb0 bw=1M burst=64K latency=1000000
in_cg a fio --thread --name=a --filename=/dev/nullb0 --direct=1 --eta=never --rw=randread --bs=4k \
	--ioengine=libaio --iodepth=16 --time_based --runtime=3600 >/dev/null 2>&1 &
goes_on a nullb0
in_cg . fio --thread --name=idle --numjobs=8 --filename=/dev/nullb0 --offset=40m --direct=1 --eta=never \
	--rw=randwrite --bs=4k --ioengine=psync --sync=dsync --time_based --runtime=3600 \
	--prioclass=3 >/dev/null 2>&1 &
idle=$!
begun=$EPOCHSECONDS
while more 1; do
	syncs beside $((8 * PATIENCE))
	echo "a flush took $longest ms at most"
	[ "$longest" -le $((2500 * PATIENCE)) ] || fail "a flush took $longest ms"
done
kill -0 $idle || fail "the idle writers have ended"
busybox killall -q -9 fio || :
wait
