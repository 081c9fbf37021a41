# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A buffered writer and readers of the root group want all tags of the queue, while a group that has
# reserved 100 requests a second keeps 16 outstanding. Each of these gets a tag.

queue=/sys/block/nullb0/queue
null_disk nullb0 completion_nsec=$takes hw_queue_depth=4
load htbs
scheduler nullb0 htbs
expect_put OK 64 $queue/nr_requests
# Both reservations together are at most four fifths of what the disk does, and two fifths where a slow
# machine takes time away: an overload would be shared in proportion, whoever has tags.
expect_put OK $((262144 / PATIENCE)) $queue/iosched/default_bw
cg r s
reserve r nullb0 iops=$((100 / PATIENCE)) burst=64K latency=$((200000 * PATIENCE))
# Of 64 tags it needs 20, and half is left to other groups.
expect 40 "$(cat $queue/iosched/promised_requests)" promised_requests
reserve r nullb0 burst=1M
expect 512 "$(cat $queue/iosched/promised_requests)" promised_requests
dmesg | grep -q 'nullb0: nr_requests is too small for what is reserved: echo 512 > ' ||
	fail "the log has no word of nr_requests"
reserve r nullb0 burst=64K
# Apart: a direct read waits until what is dirty in its place is written.
in_cg . fio --thread --name=buffered --filename=/dev/nullb0 --size=32m --rw=randwrite --bs=4k --ioengine=psync \
	--eta=never --time_based --runtime=3600 >/dev/null 2>&1 &
flood . nullb0 --bs=4k --offset=32m
goes_on . nullb0
in_cg r fio --thread --name=reserved --filename=/dev/nullb0 --direct=1 --eta=never --rw=randread \
	--offset=32m --bs=4k --ioengine=libaio --iodepth=16 --time_based --runtime=3600 >/dev/null 2>&1 &
goes_on r nullb0
begun=$EPOCHSECONDS
while more 2; do
	# In the second round another group would need all tags many times.
	[ $rounds != 2 ] || reserve s nullb0 bw=64K burst=8M latency=1000000
	sleep 1
	# It gets what it reserved to the request, but for those outstanding when it is counted. The
	# host may have had no time for the guest: then in the next seconds.
	for try in 1 2 3; do
		number r/io.htbs.stat nullb0 completed
		before=$number
		sleep $((4 * PATIENCE))
		number r/io.htbs.stat nullb0 completed
		echo "$((number - before)) requests in $((4 * PATIENCE)) s"
		got=$((number - before + 16))
		[ $got -lt $((100 / PATIENCE * 4 * PATIENCE)) ] || break
	done
	[ $got -ge $((100 / PATIENCE * 4 * PATIENCE)) ] || fail "too few requests, $try times in a row" \
		"$(cat $CG/r/io.htbs.stat $CG/io.htbs.stat /sys/kernel/debug/block/nullb0/sched/{state,backlog})"
done
busybox killall -q -9 fio || :
wait
for group in r .; do
	adds_up $group nullb0
done
