# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Cgroups are made, given a reservation, moved to, left and removed.

# move FROM TO: all processes of FROM go to TO.
move()
{
	for pid in $(cat "$CG/$1/cgroup.procs"); do
		expect_put OK "$pid" "$CG/$2/cgroup.procs"
	done
}

disk nullb0
load htbs
scheduler nullb0 htbs
load_disk nullb0
goes_on b nullb0
while more 3; do
	group=c$rounds/d
	cg $group
	reserve $group nullb0 bw=2M
	move b $group
	goes_on $group nullb0
	reserve "c$rounds" nullb0 bw=4M
	cat $CG/$group/io.htbs $CG/$group/io.htbs.stat /sys/kernel/debug/block/nullb0/sched/* >/dev/null
	# Without a reservation it has no numbers to add up.
	if [ $((rounds % 2)) = 0 ]; then
		reserve $group nullb0 none
		move $group b
	else
		move $group b
		adds_up $group nullb0
	fi
	wait_for 10 rmdir $CG/$group
	wait_for 10 rmdir "$CG/c$rounds"
done
ended nullb0
