# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# With capacity_bw set, no reservation is admitted that the device could not keep.

iosched=/sys/block/nullb0/queue/iosched
debug=/sys/kernel/debug/block/nullb0/sched/admission

# refuses GROUP RESERVATION: it is, and all is as before.
refuses()
{
	_before=$(in_force "$1" nullb0) _promised=$(cat $iosched/promised_bw)
	expect_put ENOSPC "$(dev nullb0) $2" "/sys/fs/cgroup/$1/io.htbs"
	expect "$_before" "$(in_force "$1" nullb0)" "the reservation of $1"
	expect "$_promised" "$(cat $iosched/promised_bw)" promised_bw
}

# said TEXT: the kernel's log ends with it.
said()
{
	dmesg | tail -n 1 | grep -qF "$1" || fail "expected '$1', got '$(dmesg | tail -n 1)'"
}

null_disk nullb0
load htbs
scheduler nullb0 htbs
cg a b c e/d
# Each has a line in io.htbs from its first I/O on.
for group in a b c e/d; do
	in_cg $group dd if=/dev/nullb0 of=/dev/null bs=4k count=1 iflag=direct 2>dd.log ||
		fail "$(cat dd.log)"
done

# Without a capacity each reservation is admitted.
expect 0 "$(cat $iosched/capacity_bw)" capacity_bw
expect 4096 "$(cat $iosched/capacity_request)" capacity_request
expect 1048576 "$(cat $iosched/promised_bw)" promised_bw
reserve a nullb0 bw=1T
expect $((1048576 + (1 << 40))) "$(cat $iosched/promised_bw)" promised_bw
reserve a nullb0 none
expect 1048576 "$(cat $iosched/promised_bw)" promised_bw

# Values that are no capacity.
for bad in -1 fast 1K 1125899906842625 "1 forced" "force" " 1" "1  force" "1 force 2"; do
	expect_put EINVAL "$bad" $iosched/capacity_bw
done
for bad in 4095 0 4294967296 "4096 force"; do
	expect_put EINVAL "$bad" $iosched/capacity_request
done
expect_put EACCES 1 $iosched/promised_bw

# The default reservation counts, too: 1 MiB within a second, and a request before it.
expect_put ENOSPC 1000000 $iosched/capacity_bw
said "nullb0: refused: capacity_bw would be exceeded by 48576 bytes/s; reserve that much less bw"
expect_put ENOSPC 1052671 $iosched/capacity_bw
said "nullb0: refused: 1 bytes more would be due within 1000000 us than capacity_bw serves"
expect_put OK 1052672 $iosched/capacity_bw
expect_put OK 10000000 $iosched/capacity_bw

# By rate, by burst, at the edge.
refuses a bw=8951425
said "refused: capacity_bw would be exceeded by 1 bytes/s"
refuses a "bw=1M burst=95905 latency=10000"
said "refused: 1 bytes more would be due within 10000 us than capacity_bw serves"
reserve a nullb0 bw=1M burst=95904 latency=10000
refuses b "bw=4096 burst=4096 latency=10000"
expect "latency=10000 promises=1 bw=1048576 burst=95904 left=0
latency=1000000 promises=1 bw=1048576 burst=1048576 left=7813333" "$(cat $debug)" "$debug"

# The same again, less, another key alone: each is judged with its own old promise gone.
reserve a nullb0 bw=1M burst=95904 latency=10000
refuses a latency=9999
reserve a nullb0 burst=64K
reserve b nullb0 bw=4096 burst=4096 latency=10000
expect "$(printf 'latency=10000 promises=2 bw=1052672 burst=69632 left=26272')" \
	"$(head -n 1 $debug)" "$debug"

# Below what is promised only by force, and then nothing more until there is room.
expect_put ENOSPC 3000000 $iosched/capacity_bw
expect 10000000 "$(cat $iosched/capacity_bw)" capacity_bw
expect_put OK "3000000 force" $iosched/capacity_bw
expect 3000000 "$(cat $iosched/capacity_bw)" capacity_bw
refuses c bw=4096
refuses a burst=60K
expect_put OK 10000000 $iosched/capacity_bw
expect_put ENOSPC 1048576 $iosched/capacity_request
expect_put OK 16384 $iosched/capacity_request

# An operation may be as large as that, if nothing else is reserved.
refuses c "iops=10 burst=4K latency=10000"
refuses c "iops=1000 burst=4K latency=20000"
said "refused: capacity_bw would be exceeded by 8485248 bytes/s"
reserve c nullb0 iops=10 burst=4K latency=20000
expect $((1048576 * 2 + 4096 + 10 * 16384)) "$(cat $iosched/promised_bw)" promised_bw
reserve c nullb0 none
expect_put OK 4096 $iosched/capacity_request

# The defaults are judged as well, and the root's own reservation, and its end.
expect_put ENOSPC 20000000 $iosched/default_bw
expect_put ENOSPC 1000 $iosched/default_latency_us
expect 1048576 "$(cat $iosched/default_bw)" default_bw
expect 1000000 "$(cat $iosched/default_latency_us)" default_latency_us
reserve . nullb0 bw=64K burst=4096
expect_put OK 20000000 $iosched/default_bw
expect_put ENOSPC "$(dev nullb0) none" /sys/fs/cgroup/io.htbs
expect "bw=65536 burst=4096 latency=1000000" "$(in_force . nullb0)"
expect_put OK 1048576 $iosched/default_bw
reserve . nullb0 none

# A group that is removed makes room.
reserve e/d nullb0 bw=7M burst=4096 latency=1000000
refuses c "bw=1M burst=4096 latency=1000000"
rmdir /sys/fs/cgroup/e/d
wait_for 20 grep -qx $((1048576 * 2 + 4096)) $iosched/promised_bw
reserve c nullb0 bw=1M burst=4096 latency=1000000

# What was promised comes back with the disk, which no longer knows its capacity.
scheduler nullb0 none
scheduler nullb0 htbs
expect 0 "$(cat $iosched/capacity_bw)" capacity_bw
expect $((1048576 * 3 + 4096)) "$(cat $iosched/promised_bw)" promised_bw
scheduler nullb0 none
rmmod htbs
