# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A group has a reservation in memory from its first request on, until it was idle for a minute. What
# was promised and the statistics stay. In virtual time.

# told EVENT GROUP: how often htbs_EVENT was traced for a group.
told()
{
	grep -c "htbs_$1: .*group=$(stat -c %i "$CG/$2") *\( \|\$\)" /sys/kernel/tracing/trace
}

# read_in GROUP COUNT: so many blocks of 4k.
read_in()
{
	in_cg "$1" dd if=/dev/nullb0 of=/dev/null bs=4k count="$2" iflag=direct status=none
}

null_disk nullb0
load htbs
scheduler nullb0 htbs
for event in join leave; do
	echo 1 >/sys/kernel/tracing/events/htbs/htbs_$event/enable
done
cg reserved free owing capped unused
# More than are looked at while the device is locked.
seq 150 | sed "s,^,many/," >many
# shellcheck disable=SC2046
cg $(cat many)
reserve reserved nullb0 bw=2M burst=64K latency=20000 weight=100
reserve owing nullb0 bw=4096 burst=1M latency=20000
reserve capped nullb0 bw=1M burst=64K latency=20000 max=4M
reserve unused nullb0 bw=1M burst=64K latency=20000

# The first request brings it; but a cap limits others' tags from the first.
expect "0 0 0 1 0" "$(told join reserved) $(told join free) $(told join owing) $(told join capped) \
$(told join unused)" "groups in memory before the first request"
for group in reserved free capped; do
	read_in $group 10
done
read_in owing 256
(
	while read -r group; do
		echo 0 >"$CG/$group/cgroup.procs"
		dd if=/dev/nullb0 of=/dev/null bs=4k count=1 iflag=direct status=none
	done <many
)
expect 154 "$(grep -c htbs_join: /sys/kernel/tracing/trace)" "groups in memory"
expect "1 1 1 1 0" "$(told join reserved) $(told join free) $(told join owing) $(told join capped) \
$(told join unused)" "groups in memory after it"

# One that is in use stays; after a minute or two without a request it goes.
for _ in 1 2 3 4 5 6; do
	sleep 25
	read_in free 1
done
expect "1 0 0 0" "$(told leave reserved) $(told leave free) $(told leave owing) $(told leave capped)" \
	"groups that are idle, in use, have used up their burst, and have a cap"
expect 151 "$(grep -c htbs_leave: /sys/kernel/tracing/trace)" "groups that left"

# The burst comes back within 256 s.
sleep 300
expect "1 1 1 0" "$(told leave reserved) $(told leave free) $(told leave owing) $(told leave capped)" \
	"groups after the burst has come back"

# Nothing of what a user sees has changed, and the next request counts on.
expect "bw=2097152 burst=65536 latency=20000 weight=100" "$(in_force reserved nullb0)"
expect 10 "$(stat_of reserved nullb0 rios)"
expect 16 "$(stat_of free nullb0 rios)"
reserve reserved nullb0 bw=3M
expect "bw=3145728 burst=65536 latency=20000 weight=100" "$(in_force reserved nullb0)"
read_in reserved 1
expect 11 "$(stat_of reserved nullb0 rios)"
expect 2 "$(told join reserved)"
grep -q "htbs_join: .*bw=3145728" /sys/kernel/tracing/trace || fail "joined with another reservation"

# A group may go while it is not in memory, and the scheduler with reservations in use.
rmdir $CG/unused $CG/owing
scheduler nullb0 none
scheduler nullb0 htbs
expect "bw=3145728 burst=65536 latency=20000 weight=100" "$(in_force reserved nullb0)"
read_in reserved 1
scheduler nullb0 none
rmmod htbs
