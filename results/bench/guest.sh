# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What a guest of the benchmark does; sourced after tests/vm/scripts/lib.sh. guest.py appends the
# calls.

# The shell that measures goes before what is measured.
chrt -f -p 1 $$ >/dev/null

# begin SCHEDULER: two disks, one that completes at once and one that is slower than the CPU.
begin()
{
	elevator=$1
	null_disk nullb0 size=4096 irqmode=0
	null_disk nullb1 size=4096 irqmode=2 hw_queue_depth=64 completion_nsec=200000
	attach "$elevator"
	# What the kernel still has to do after its boot.
	sleep 10
}

# attach SCHEDULER: both disks.
attach()
{
	if [ "$1" = htbs ] && ! [ -e /sys/module/htbs ]; then
		load htbs
	fi
	scheduler nullb0 "$1"
	scheduler nullb1 "$1"
}

# cgroups FROM TO BW: make bench/cN, let each do an I/O on the second disk, so that the kernel has
# its state, and give it a reservation.
cgroups()
{
	cg bench/c0
	seq "$1" $(($2 - 1)) | sed "s,^,$CG/bench/c," | xargs mkdir -p
	used "$1" "$2"
	reservations nullb1 "$1" "$2" "$3"
}

# used FROM TO: each of bench/cN does an I/O on the second disk.
used()
{
	# A byte written to a block has the block read first; 0 is the shell itself.
	(
		i=$1
		while [ "$i" -lt "$2" ]; do
			echo 0 >"$CG/bench/c$i/cgroup.procs"
			echo >/dev/nullb1
			i=$((i + 1))
		done
	)
}

# reservations DISK FROM TO BW: one for each of bench/cN, where the scheduler knows them.
reservations()
{
	[ "$elevator" = htbs ] || return 0
	_promise="$(dev "$1") bw=$4 burst=128K latency=100000"
	i=$2
	while [ "$i" -lt "$3" ]; do
		echo "$_promise" >"$CG/bench/c$i/io.htbs"
		i=$((i + 1))
	done
}

# readers: the processes of fio that read.
readers()
{
	cat "/proc/$fio/task/$fio/children"
}

# started COUNT: there are that many readers.
started()
{
	[ "$(readers | wc -w)" -eq "$1" ]
}

# spread COUNT CGROUPS: the readers go to cgroups, evenly spread over all.
spread()
{
	i=0
	for pid in $(readers); do
		echo "$pid" >"$CG/bench/c$((i * $2 / $1))/cgroup.procs"
		i=$((i + 1))
	done
}

# snapshot DISK FILE: what the disk has done, what time it is and how long the CPU was idle.
snapshot()
{
	cat "/sys/block/$1/stat" /proc/timer_list >"$2"
}

# idle DISK: nothing is under way, so the readers are gone.
idle()
{
	[ "$(tr -d ' 0' <"/sys/block/$1/inflight")" = "" ] && ! pidof fio
}

# measure CASE DISK READERS CGROUPS SECONDS: run CASE.fio of $IN, with a snapshot before and after.
measure()
{
	echo "case $1"
	# Readers that are not ready yet go before those that are, which are nice: see guest.py.
	chrt -o 0 nice -n -20 fio "$IN/$1.fio" --eta=never >fio.log 2>&1 &
	fio=$!
	wait_for 20 started "$3"
	spread "$3" "$4"
	sleep 0.1
	snapshot "$2" "$1.before"
	sleep "$5"
	snapshot "$2" "$1.after"
	started "$3" || fail "$(cat fio.log)"
	# shellcheck disable=SC2046
	kill -KILL $fio $(readers)
	wait $fio || :
	wait_for 20 idle "$2"
}

# memory MODULE CGROUPS BW: what the slabs hold without the scheduler's module, with it while all
# cgroups are idle, and after each has done an I/O.
memory()
{
	echo "case memory"
	attach none
	rmmod "$1"
	slabs before
	attach "$elevator"
	reservations nullb1 0 "$2" "$3"
	slabs idle
	used 0 "$2"
	slabs used
}

# slabs WHEN: what is to be freed is freed first, names looked up are forgotten, as they hold what
# they name, and what is free isn't kept for the next to come.
slabs()
{
	sleep 5
	echo 3 >/proc/sys/vm/drop_caches
	sleep 5
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done
	cat /proc/slabinfo >"slabs.$1"
}
