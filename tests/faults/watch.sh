# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# watch.sh FILE: the stall detector. A request that is pending for longer than its bound has starved
# (sched/state says so), whatever else its disk does. A disk that has requests, none of them with the
# driver, and completes nothing for 10 s has lost one, unless caps hold up all that it has, and will
# let it go. Print the disk's state and end the process group whose id is in FILE.

# How often it has to be seen so, and after how many seconds again; the first look finds what was done
# since the one before. Each costs processes, which a debug kernel has no time for.
LIMIT=3
EVERY=2.5
debug=/sys/kernel/debug/block
declare -A done_before idle

# report DISK WHAT: what is known about its requests.
report()
{
	echo "FAIL: stalled: $1 $2"
	(cd $debug/"$1" && grep -s . state requeue_list sched/* hctx*/{state,dispatch,busy})
}

# completed DISK: reads, writes, discards and flushes so far, to $completed.
completed()
{
	local -a stat
	read -r -a stat <"/sys/block/$1/stat"
	completed="${stat[0]} ${stat[4]} ${stat[11]} ${stat[15]}"
}

while sleep $EVERY; do
	for file in $(grep -ls '^oldest .*: overdue' $debug/*/sched/state); do
		disk=${file#"$debug/"}
		report "${disk%%/*}" "has a request that is pending for longer than its bound"
		kill -9 -- "-$(cat "$1")"
	done
	busy=" "
	for file in $(grep -ls '^busy=[1-9]' $debug/*/hctx*/sched_tags); do
		disk=${file#"$debug/"}
		disk=${disk%%/*}
		[[ $busy != *" $disk "* ]] || continue
		busy+="$disk "
		# A disk may go at any moment.
		{ read -r reads writes <"/sys/block/$disk/inflight" && completed "$disk"; } 2>/dev/null ||
			continue
		if [[ $reads != 0 || $writes != 0 || ${done_before[$disk]-} != "$completed" ]] ||
			grep -qs '^throttled  *all' $debug/"$disk"/sched/state; then
			idle[$disk]=0
			done_before[$disk]=$completed
		elif ((++idle[$disk] == LIMIT)); then
			report "$disk" "has requests and is idle"
			kill -9 -- "-$(cat "$1")"
		fi
	done
	for disk in "${!idle[@]}"; do
		[[ $busy == *" $disk "* ]] || unset "idle[$disk]" "done_before[$disk]"
	done
done
