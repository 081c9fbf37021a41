# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# watch.sh FILE: the stall detector. A disk that has requests, none of them with the driver, and
# completes nothing for 10 s has been forgotten by somebody: print its state and end the process
# group whose id is in FILE. Unless caps hold up all that it has, and will let it go.

# How often it has to be seen so, and after how many seconds again; the first look finds what was done
# since the one before. Each costs processes, which a debug kernel has no time for.
LIMIT=3
EVERY=2.5
debug=/sys/kernel/debug/block
declare -A done_before idle

# report DISK: what is known about its requests.
report()
{
	echo "FAIL: stalled: $1 has requests and is idle"
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
			grep -qs '^stopped by caps all' $debug/"$disk"/sched/state; then
			idle[$disk]=0
			done_before[$disk]=$completed
		elif ((++idle[$disk] == LIMIT)); then
			report "$disk"
			kill -9 -- "-$(cat "$1")"
		fi
	done
	for disk in "${!idle[@]}"; do
		[[ $busy == *" $disk "* ]] || unset "idle[$disk]" "done_before[$disk]"
	done
done
