# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the functional tests share in the guest; sourced after guest.sh, before the script.

CG=/sys/fs/cgroup

# null_disk NAME [ATTRIBUTE=VALUE…]: make a null_blk disk of 64 MiB with a service time.
null_disk()
{
	modprobe null_blk nr_devices=0
	grep -q configfs /proc/mounts || mount -t configfs configfs /sys/kernel/config
	_null=/sys/kernel/config/nullb/$1
	shift
	mkdir "$_null"
	for _pair in size=64 irqmode=2 completion_nsec=100000 "$@" power=1; do
		echo "${_pair#*=}" >"$_null/${_pair%%=*}"
	done
}

# dev DISK: its MAJ:MIN.
dev()
{
	cat "/sys/block/$1/dev"
}

# reserve CGROUP DISK KEY=VALUE…|none: write to io.htbs.
reserve()
{
	_cg=$1 _disk=$2
	shift 2
	expect_put OK "$(dev "$_disk") $*" "$CG/$_cg/io.htbs"
}

# in_force CGROUP DISK: the disk's line of io.htbs, without MAJ:MIN; empty: there is none.
in_force()
{
	sed -n "s/^$(dev "$2") //p" "$CG/$1/io.htbs"
}

# stat_of CGROUP DISK KEY: one number of io.htbs.stat; empty: there is no line.
stat_of()
{
	sed -n "s/^$(dev "$2") .*\<$3=\([0-9]*\).*/\1/p" "$CG/$1/io.htbs.stat"
}

# settled CGROUP DISK: all that was inserted is completed or merged; met and missed are all that
# conformed. Each key of the group's line becomes a variable.
settled()
{
	inserted=0 completed=0 merged=0 conforming=0 met=0 missed=0 late_max_us=0
	_line=$(sed -n "s/^$(dev "$2") //p" "$CG/$1/io.htbs.stat")
	[ -n "$_line" ] || fail "$1 has no numbers of $2"
	eval "$_line"
	expect "$inserted" $((completed + merged)) "$1: inserted = completed + merged"
	expect "$conforming" $((met + missed)) "$1: conforming = met + missed"
}

# record: have ftrace keep all htbs events from now on, in the order of the decisions. For a replay
# (tests/model/replay.py) to come before the scheduler is chosen.
record()
{
	echo counter >/sys/kernel/tracing/trace_clock
	echo 32768 >/sys/kernel/tracing/buffer_size_kb
	echo 1 >/sys/kernel/tracing/events/htbs/enable
}

# recorded: end the recording, which is in ./trace.
recorded()
{
	echo 0 >/sys/kernel/tracing/events/htbs/enable
	cat /sys/kernel/tracing/trace >trace
}

# job CGROUP SECONDS OPTION…: fio in the cgroup, under the cgroup's name, with $JOB; JSON to
# $run-CGROUP.json.
job()
{
	_group=$1 _seconds=$2
	shift 2
	# shellcheck disable=SC2086
	in_cg "$_group" fio --name="$_group" --direct=1 --eta=never --output-format=json --bs=4k \
		--output="$run-$_group.json" $JOB --runtime="$_seconds" "$@"
}

# stats CGROUP…: keep their numbers of $disk.
stats()
{
	for _group in "$@"; do
		[ "$_group" = . ] || settled "$_group" "$disk"
		cp "$CG/$_group/io.htbs.stat" "$run-$_group.stat"
	done
}
