# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Cgroups are made, given a reservation, moved to, left and removed.

null_disk nullb0 submit_queues=2 memory_backed=1
load htbs
scheduler nullb0 htbs
load_disk nullb0
while busy; do
	cg "c$rounds/d"
	for pid in $(cat $CG/b/cgroup.procs); do
		put "$pid" "$CG/c$rounds/d/cgroup.procs" >/dev/null || :
	done
	reserve "c$rounds/d" nullb0 bw=2M
	reserve "c$rounds" nullb0 bw=4M
	reserve "c$rounds/d" nullb0 none
	cat "$CG/c$rounds/d/io.htbs" "$CG/c$rounds/d/io.htbs.stat" \
		/sys/kernel/debug/block/nullb0/sched/* >/dev/null
	for pid in $(cat "$CG/c$rounds/d/cgroup.procs"); do
		put "$pid" $CG/b/cgroup.procs >/dev/null || :
	done
	wait_for 10 rmdir "$CG/c$rounds/d"
	wait_for 10 rmdir "$CG/c$rounds"
	rounds=$((rounds + 1))
done
ended 3 nullb0
