# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Loading, choosing and unloading, without load.

# loaded: is the module there?
loaded()
{
	grep -q '^htbs ' /proc/modules
}

# offered DISK: is htbs among the disk's schedulers?
offered()
{
	grep -q '\<htbs\>' "/sys/block/$1/queue/scheduler"
}

# works DISK: I/O gets through.
works()
{
	dd if=/dev/zero of="/dev/$1" bs=64k count=2 oflag=direct status=none ||
		fail "no I/O under $(scheduler "$1")"
}

null_disk nullb0
null_disk nullb1

# A module of another kernel is refused, and leaves nothing behind.
if insmod "$IN/foreign.ko" 2>foreign; then
	fail "a module of another kernel was loaded"
fi
grep -q 'invalid module format' foreign || fail "$(cat foreign)"
! loaded || fail "loaded"
expect_put EINVAL htbs /sys/block/nullb0/queue/scheduler

# The first write of its name loads it, by its alias.
modules=/lib/modules/$(uname -r)
cp "$IN/htbs.ko" "$modules/"
depmod
scheduler nullb0 htbs
loaded || fail "not loaded by its alias"
rm "$modules/htbs.ko"
depmod
offered nullb1 || fail "not offered"
expect htbs "$(scheduler nullb0)"
expect none "$(scheduler nullb1)"
works nullb0
dmesg | grep -q 'io scheduler htbs registered' || fail "no message"

# Its files, which are there while it is the disk's scheduler.
cd /sys/block/nullb0/queue/iosched
expect "capacity_bw capacity_request default_burst default_bw default_latency_us late_one_in late_one_in_writes promised_bw promised_requests seeks t_wait_us" "$(echo *)"
cd "$OUT"
[ -r $CG/io.htbs ] && [ -r $CG/io.htbs.stat ] || fail "no io.htbs in the root"
cat /sys/kernel/debug/block/nullb0/sched/*
expect 0 "$(cat /sys/block/nullb0/queue/iosched/t_wait_us)" "t_wait_us of a disk without seeks"
load simdisk size_mb=16
scheduler sim0 htbs
expect 10000 "$(cat /sys/block/sim0/queue/iosched/t_wait_us)" "t_wait_us of a disk that seeks"
scheduler sim0 none
rmmod simdisk

# A wait that is cancelled leaves its timer running; but it ends with the scheduler, and the module
# can go.
waiting()
{
	grep -A 1 htbs_idle_timer_expired /proc/timer_list
}

# waiting_long: does the timer run for 60 ms more? A switch takes less.
waiting_long()
{
	waiting | grep -q '\[in \([6-9][0-9]\|1[0-9][0-9]\)[0-9]\{6\} '
}
load simdisk size_mb=64
scheduler sim0 htbs
t_wait=/sys/block/sim0/queue/iosched/t_wait_us
cg reader other
reserve reader sim0 bw=1M
reserve other sim0 bw=1M
job()
{
	_group=$1
	shift
	in_cg "$_group" fio --name="$_group" --filename=/dev/sim0 --direct=1 --bs=4k --size=16m \
		--eta=never --time_based --runtime=10 "$@" >/dev/null
}
job other --rw=randread --offset=32m --ioengine=libaio --iodepth=2 &
# Four times as long as it thinks it is waited for, unless that is longer than a quarter of t_wait.
job reader --rw=read --ioengine=psync --thinktime=40000 &
reader=$!
left_over=
while [ -d /proc/$reader ] && [ ! "$left_over" ]; do
	expect_put OK 1000000 $t_wait
	waiting_long || continue
	expect_put OK 0 $t_wait
	! waiting_long || left_over=1
done
[ "$left_over" ] || fail "no timer is left over"
scheduler sim0 none
! waiting || fail "a timer is running without its scheduler"
wait
scheduler nullb0 none
rmmod htbs
sleep 2
rmmod simdisk
rmdir $CG/reader $CG/other
load htbs
scheduler nullb0 htbs

# The kernel's own throttling of write-back is off while it is the disk's scheduler.
wbt=/sys/kernel/debug/block/nullb0/rqos/wbt/enabled
on=1 off=3 # WBT_STATE_ON_DEFAULT, WBT_STATE_OFF_DEFAULT
expect $off "$(cat $wbt)" "wbt/enabled"
scheduler nullb0 none
expect $on "$(cat $wbt)" "wbt/enabled"
scheduler nullb0 htbs
expect $off "$(cat $wbt)" "wbt/enabled"

# It can't be unloaded while a disk uses it.
if rmmod htbs 2>/dev/null; then
	fail "unloaded while in use"
fi
loaded || fail "gone while in use"
works nullb0
load htbs 2>/dev/null && fail "loaded twice"

# From each scheduler to each other.
for from in none mq-deadline kyber bfq htbs; do
	for to in none mq-deadline kyber bfq htbs; do
		scheduler nullb0 $from
		scheduler nullb0 $to
		expect $to "$(scheduler nullb0)"
		works nullb0
	done
done
scheduler nullb1 htbs
works nullb1

# Unloaded, nothing of it is left; loaded, it works again.
for _ in 1 2 3; do
	scheduler nullb0 none
	scheduler nullb1 none
	rmmod htbs
	! offered nullb0 || fail "offered when gone"
	[ ! -e $CG/io.htbs ] && [ ! -e $CG/io.htbs.stat ] || fail "files when gone"
	load htbs
	scheduler nullb0 htbs
	works nullb0
done

# A disk's scheduler ends with the disk.
echo 0 >/sys/kernel/config/nullb/nullb0/power
rmmod htbs
