# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Readers that conform, with a latency that the device hardly keeps, lower the quotas. Two
# groups that want more than they have reserved get their reservation every second.

# readers GROUP COUNT DEPTH OPTION…: they read blocks of 4k, started 3 ms apart.
readers()
{
	local group=$1 count=$2 depth=$3 nr
	local -a jobs=()
	for nr in $(seq "$count"); do
		jobs+=(--name="$nr" --startdelay=$((nr * 3))ms)
	done
	in_cg "$group" fio --thread --filename=/dev/nullb0 --direct=1 --eta=never --rw=randread \
		--bs=4k --ioengine=libaio --iodepth="$depth" --time_based --runtime=3600 \
		"${jobs[@]}" >/dev/null 2>&1 &
}

# lets_go_on GROUP: the group gets a quarter of what it reserved in 2 s, or in the next 2 s: the
# host may have had no time for the guest.
lets_go_on()
{
	local before try
	for try in 1 2 3; do
		number "$1/io.htbs.stat" nullb0 completed
		before=$number
		sleep $((2 * PATIENCE))
		number "$1/io.htbs.stat" nullb0 completed
		[ $((number - before)) -lt 60 ] || return 0
	done
	fail "$1 got $((number - before)) requests in 2 s, three times in a row"
}

null_disk nullb0 completion_nsec=$takes hw_queue_depth=64 submit_queues=2
load htbs
scheduler nullb0 htbs
cg a b
reserve a nullb0 bw=100M burst=1M latency=$((takes * 3 / 2000))
reserve b nullb0 bw=400K burst=16K latency=100000
readers a 8 1
readers b 1 4
readers . 1 4
goes_on a nullb0
begun=$EPOCHSECONDS
sleep $((3 * PATIENCE))
while more 2; do
	lets_go_on b
	lets_go_on .
done
busybox killall -q -9 fio || :
wait
for group in a b .; do
	adds_up $group nullb0
done
