# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Cgroups that were removed while their I/O is still outstanding. On 6.1 the kernel calls into a
# policy for them even after it was deactivated on the disk, so the module must not go before.

# leave GROUP: its task, which waits for the disk, moves to the root, and the group is removed.
leave()
{
	wait_for 5 sh -c "grep -q ' D ' /proc/\$(cat $CG/$1/cgroup.procs)/stat"
	expect_put OK "$(cat "$CG/$1/cgroup.procs")" $CG/cgroup.procs
	rmdir "$CG/$1"
	[ "$(dying)" -ge 1 ] || fail "$1 is not dying"
}

# throttled GROUP SECONDS: the group is removed while io.max throttles a read of it for so long.
throttled()
{
	expect_put OK "$(dev nullb0) rbps=4096" "$CG/$1/io.max"
	in_cg "$1" dd if=/dev/nullb0 of=/dev/null bs=4096 count=1 iflag=direct status=none
	in_cg "$1" dd if=/dev/nullb0 of=/dev/null bs=$(($2 * 4096)) count=1 iflag=direct status=none &
	leave "$1"
}

# dying: how many removed cgroups the kernel still keeps.
dying()
{
	sed -n 's/^nr_dying_descendants //p' $CG/cgroup.stat
}

null_disk nullb0
load htbs
scheduler nullb0 htbs
cg with
reserve with nullb0 bw=1M

# The disk leaves, the module waits for the last I/O of the removed group.
cg gone
throttled gone 12
scheduler nullb0 none
rmmod htbs
wait
wait_for 10 sh -c "grep -q 'nr_dying_descendants 0' $CG/cgroup.stat"

# With a reservation of its own, and a child that has one; the disk comes back meanwhile.
load htbs
scheduler nullb0 htbs
cg parent/child
reserve parent nullb0 bw=1M
reserve parent/child nullb0 bw=2M
throttled parent/child 3
rmdir $CG/parent
for scheduler in mq-deadline htbs none htbs; do
	scheduler nullb0 $scheduler
done
dd if=/dev/nullb0 of=/dev/null bs=4k count=1 iflag=direct status=none
wait
settled . nullb0

# A removed group goes with its last request, though no other follows.
null_disk nullb1 completion_nsec=1000000000 hw_queue_depth=1
scheduler nullb1 htbs
cg last
in_cg last dd if=/dev/nullb1 of=/dev/null bs=4k count=1 iflag=direct status=none &
leave last
wait
wait_for 10 sh -c "grep -q 'nr_dying_descendants 0' $CG/cgroup.stat"

# Requests of a removed group are with the scheduler and with the driver, when the scheduler goes
# and when the disk does.
for end in "scheduler nullb1 none" "echo 0 >/sys/kernel/config/nullb/nullb1/power"; do
	scheduler nullb1 htbs
	for group in one two; do
		cg $group
		reserve $group nullb1 bw=1M
		in_cg $group dd if=/dev/nullb1 of=/dev/null bs=4k count=1 iflag=direct status=none &
	done
	leave one
	leave two
	eval "$end"
	wait
done
scheduler nullb0 none
rmmod htbs
wait_for 10 sh -c "grep -q 'nr_dying_descendants 0' $CG/cgroup.stat"
