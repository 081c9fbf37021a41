# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Which group an I/O is charged to, and how long a reservation lives.

# reads: for each group that owns I/O on nullb0, its name and how many reads it was charged.
reads()
{
	for _group in . top top/mid top/mid/leaf top/mid/side top/side; do
		echo "$_group $(stat_of $_group nullb0 rios)"
	done
}

# charges CGROUP CHARGED: a read by CGROUP shows up at CHARGED, and nowhere else.
charges()
{
	_reads=$(reads)
	read_in "$1" nullb0
	expect "$2" "$(reads | grep -vxF "$_reads" | cut -d' ' -f1)" "the group charged for I/O of $1"
}

# read_in CGROUP DISK: one request.
read_in()
{
	in_cg "$1" dd "if=/dev/$2" of=/dev/null bs=64k count=1 iflag=direct status=none
}

# The device's defaults differ from every reservation.
defaults="bw=1048576 burst=1048576 latency=1000000"

null_disk nullb0
null_disk nullb1
load htbs
scheduler nullb0 htbs
scheduler nullb1 htbs
cg top/mid/leaf top/mid/side top/side

for group in top/mid/leaf top/mid/side top/side; do
	read_in $group nullb0
done

# Groups without a reservation share the root's, and each is charged for its own I/O.
charges top/mid/leaf top/mid/leaf
charges top/mid/side top/mid/side
charges . .
expect "$defaults default" "$(in_force top/mid/leaf nullb0)"
expect "$defaults default" "$(in_force . nullb0)"

# I/O is charged to the nearest ancestor that has a reservation; one that is configured later, too.
reserve top nullb0 bw=2M burst=64K latency=20000
charges top/mid/leaf top
charges top/side top
expect "" "$(stat_of top/mid/leaf nullb0 rios)" "a line of a group that is charged elsewhere"
expect "bw=2097152 burst=65536 latency=20000" "$(in_force top nullb0)"
expect "bw=2097152 burst=65536 latency=20000 inherited" "$(in_force top/mid nullb0)"
expect "bw=2097152 burst=65536 latency=20000 inherited" "$(in_force top/mid/leaf nullb0)"
expect "$defaults default" "$(in_force . nullb0)"

reserve top/mid nullb0 bw=4M burst=128K latency=40000
charges top/mid/leaf top/mid
charges top/side top
expect "bw=4194304 burst=131072 latency=40000 inherited" "$(in_force top/mid/leaf nullb0)"

reserve top/mid/leaf nullb0 bw=8M
charges top/mid/leaf top/mid/leaf
charges top/mid/side top/mid
# What the first reservation doesn't name is the device's default, not the ancestor's.
expect "bw=8388608 burst=1048576 latency=1000000" "$(in_force top/mid/leaf nullb0)"

# A reservation taken back gives its I/O to the ancestor; twice does no harm.
reserve top/mid/leaf nullb0 none
charges top/mid/leaf top/mid
reserve top/mid/leaf nullb0 none
reserve top/mid nullb0 none
charges top/mid/leaf top
charges top/mid/side top

# The root can have one of its own; it overrides the defaults, and gives them back.
reserve . nullb0 bw=3M burst=64K latency=30000
expect "bw=3145728 burst=65536 latency=30000" "$(in_force . nullb0)"
expect 1048576 "$(cat /sys/block/nullb0/queue/iosched/default_bw)"
charges . .
reserve top nullb0 none
expect "bw=3145728 burst=65536 latency=30000 inherited" "$(in_force top nullb0)"
charges top/side top/side
# While it has a cap all requests that share it are charged to the root.
reserve . nullb0 max=64M
expect "bw=3145728 burst=65536 latency=30000 max=67108864 inherited" "$(in_force top nullb0)"
charges top/side .
reserve . nullb0 max=max
charges top/side top/side
reserve . nullb0 none
expect "$defaults default" "$(in_force . nullb0)"

# New defaults hold at once for each group without a reservation.
expect_put OK 2097152 /sys/block/nullb0/queue/iosched/default_bw
expect "bw=2097152 burst=1048576 latency=1000000 default" "$(in_force top/mid nullb0)"
expect_put OK 1048576 /sys/block/nullb0/queue/iosched/default_bw

# A reservation holds on one disk.
reserve top nullb0 bw=2M burst=64K latency=20000
read_in top/side nullb1
expect "$defaults default" "$(in_force top/side nullb1)"
reserve top nullb1 bw=5M burst=64K latency=50000
expect "bw=2097152 burst=65536 latency=20000" "$(in_force top nullb0)"
expect "bw=5242880 burst=65536 latency=50000" "$(in_force top nullb1)"
expect 2 "$(grep -c . $CG/top/io.htbs)" "lines of two disks"

# Changing one number leaves the others.
reserve top nullb0 latency=30000
expect "bw=2097152 burst=65536 latency=30000" "$(in_force top nullb0)"
reserve top nullb0 burst=128K
expect "bw=2097152 burst=131072 latency=30000" "$(in_force top nullb0)"

# It survives other schedulers, on this disk and the other one.
reserve top/mid nullb0 bw=4M burst=128K latency=40000
for other in none mq-deadline bfq kyber none; do
	scheduler nullb0 "$other"
	expect "" "$(in_force top nullb0)" "in force under $other"
	expect "" "$(stat_of top nullb0 rios)" "statistics under $other"
	expect "bw=5242880 burst=65536 latency=50000" "$(in_force top nullb1)"
	scheduler nullb0 htbs
	expect "bw=2097152 burst=131072 latency=30000" "$(in_force top nullb0)" "after $other"
	expect "bw=4194304 burst=131072 latency=40000" "$(in_force top/mid nullb0)" "after $other"
	charges top/mid/leaf top/mid
done
# What was taken back stays away.
reserve top/mid nullb0 none
scheduler nullb0 none
scheduler nullb0 htbs
expect "bw=2097152 burst=131072 latency=30000 inherited" "$(in_force top/mid nullb0)"
charges top/mid/leaf top

# A weight and a cap are inherited and survive with the rest, until they are taken back.
reserve top nullb0 weight=300 max=3M
scheduler nullb0 none
scheduler nullb0 htbs
expect "bw=2097152 burst=131072 latency=30000 weight=300 max=3145728" "$(in_force top nullb0)"
expect "bw=2097152 burst=131072 latency=30000 weight=300 max=3145728 inherited" "$(in_force top/mid nullb0)"
charges top/mid/leaf top
reserve top nullb0 weight=default max=max
expect "bw=2097152 burst=131072 latency=30000 inherited" "$(in_force top/mid nullb0)"

# It goes with its cgroup, ...
reserve top/mid/leaf nullb0 bw=8M
rmdir $CG/top/mid/leaf
cg top/mid/leaf
charges top/mid/leaf top
expect "bw=2097152 burst=131072 latency=30000 inherited" "$(in_force top/mid/leaf nullb0)"

# ... and with its disk, even if another one gets the number.
number=$(dev nullb0)
echo 0 >/sys/kernel/config/nullb/nullb0/power
expect 1 "$(grep -c . $CG/top/io.htbs)" "lines when a disk is gone"
echo 1 >/sys/kernel/config/nullb/nullb0/power
expect "$number" "$(dev nullb0)" "the number of the new disk"
scheduler nullb0 htbs
read_in top/side nullb0
expect "$defaults default" "$(in_force top nullb0)" "on another disk of that number"
expect "bw=5242880 burst=65536 latency=50000" "$(in_force top nullb1)"

# Unloading ends all reservations.
scheduler nullb0 none
scheduler nullb1 none
rmmod htbs
[ ! -e $CG/top/io.htbs ] || fail "io.htbs without the module"
load htbs
scheduler nullb1 htbs
read_in top/side nullb1
expect "$defaults default" "$(in_force top/side nullb1)" "after reloading"
scheduler nullb1 none
rmmod htbs
