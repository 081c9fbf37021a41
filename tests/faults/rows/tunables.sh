# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# nr_requests, every tunable and a reservation change, while a task of the idle class asks for all
# tags.

# tune FILE VALUE: write the value, and read it back.
tune()
{
	expect_put OK "$2" "$queue/$1"
	expect "$2" "$(cat "$queue/$1")" "$1"
}

# all_but_a_quarter TAGS: of the last quarter of the tags the group has a share only.
all_but_a_quarter()
{
	local pending in_flight
	read -r _ pending _ in_flight _ < <(grep '^background ' /sys/kernel/debug/block/nullb0/sched/state)
	[ $((pending + in_flight)) -le $(($1 * 7 / 8)) ] || fail "$pending + $in_flight of $1 tags"
}

disk nullb0
load htbs
scheduler nullb0 htbs
load_disk nullb0
cg idle
flood idle nullb0 --bs=4k --prioclass=3
queue=/sys/block/nullb0/queue
while more 1; do
	for value in 4 128 17 64; do
		tune nr_requests $value
		tune iosched/t_wait_us $((value * 100))
		tune iosched/late_one_in $((value * 100))
		tune iosched/late_one_in_writes $((value * 10))
		tune iosched/default_bw $((value * 4096))
		tune iosched/default_burst $((value * 4096))
		tune iosched/default_latency_us $((value * 1000))
		tune iosched/capacity_request $((value * 4096))
		tune iosched/capacity_bw $([ $value = 4 ] && echo 0 || echo $((value << 40)))
		reserve a nullb0 bw=$((value * 65536)) latency=$((value * 1000))
		expect "bw=$((value * 65536)) burst=262144 latency=$((value * 1000))" \
			"$(in_force a nullb0)"
		goes_on a nullb0
		[ $value -lt 64 ] || all_but_a_quarter $((2 * value))
	done
done
ended nullb0
