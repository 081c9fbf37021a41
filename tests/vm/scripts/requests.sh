# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Special requests: flushes, FUA, passthrough, requeued ones, write-back.

# verify GROUP DISK OPTION…: fio that checks what it wrote.
verify()
{
	_group=$1 _disk=$2
	shift 2
	in_cg "$_group" fio --name="$_group" --filename="/dev/$_disk" --direct=1 --bs=4k --size=4m \
		--eta=never --verify=crc32c "$@" >fio.log 2>&1 || fail "fio: $(cat fio.log)"
	settled "$_group" "$_disk"
}

# flushes DISK: how many the disk had to do.
flushes()
{
	tr -s ' ' <"/sys/block/$1/stat" | sed 's/^ //' | cut -d' ' -f16
}

# flushed DISK OPTION…: writes that ask for flushes get them.
flushed()
{
	_before=$(flushes "$1")
	_target=$1
	shift
	verify one "$_target" --rw=randwrite --number_ios=200 "$@"
	[ $(($(flushes "$_target") - _before)) -ge 50 ] || fail "few flushes: $_target $*"
}

load htbs
cg one two

# A volatile cache, without FUA and with it.
null_disk nullb0 memory_backed=1 cache_size=8
load simdisk size_mb=64 backing=1 write_cache=1 fua=1
modprobe sd_mod
modprobe scsi_debug dev_size_mb=64 ndelay=100000
wait_for 10 test -b /dev/sda
for disk in nullb0 sim0 sda; do
	scheduler $disk htbs
	expect "write back" "$(cat /sys/block/$disk/queue/write_cache)" "$disk's cache"
	reserve one $disk bw=1M
	flushed $disk --ioengine=psync --fdatasync=1
	flushed $disk --ioengine=libaio --iodepth=8 --fdatasync=2
done
expect 1 "$(cat /sys/block/sim0/queue/fua)" "FUA of sim0"
expect 1 "$(cat /sys/block/sda/queue/fua)" "FUA of sda"
for disk in nullb0 sim0 sda; do
	verify one $disk --rw=randwrite --ioengine=psync --sync=dsync --number_ios=200
	verify one $disk --rw=randwrite --ioengine=libaio --iodepth=8 --sync=dsync --number_ios=200
done

# Passthrough, alone and beside scheduled requests.
modprobe sg
sg_read()
{
	fio --name=sg --filename=/dev/sda --ioengine=sg --rw=randread --bs=4k --size=4m \
		--eta=never --number_ios=500 >sg.log 2>&1 || fail "sg: $(cat sg.log)"
}
sg_read
sg_read &
verify one sda --rw=randwrite --ioengine=libaio --iodepth=16
wait $!

# A driver that is busy every third time, ...
debug=/sys/bus/pseudo/drivers/scsi_debug
echo 3 >$debug/every_nth
echo 0x8000 >$debug/opts
verify one sda --rw=randrw --ioengine=libaio --iodepth=16
# ... a disk that loses its transport, so that requests are requeued, ...
echo 20 >$debug/every_nth
echo 0x10 >$debug/opts
echo 1 >/sys/kernel/tracing/events/htbs/htbs_complete/enable
verify one sda --rw=randrw --ioengine=libaio --iodepth=16
verify one sda --rw=write --ioengine=psync
echo 0 >/sys/kernel/tracing/events/htbs/enable
grep -q 'requeued=1' /sys/kernel/tracing/trace || fail "nothing was given back"
echo 0 >$debug/opts
# ... and a disk that takes one request at a time.
echo 1 >/sys/block/sda/device/queue_depth
verify one sda --rw=randrw --ioengine=libaio --iodepth=16

# Write-back is charged to the group that wrote, though a kernel thread submits it.
echo +memory >$CG/cgroup.subtree_control
modprobe ext4
null_disk nullb1 memory_backed=1
scheduler nullb1 htbs
reserve one nullb1 bw=1M
reserve two nullb1 bw=1M
mke2fs /dev/nullb1 >/dev/null
mkdir /tmp/mnt
mount -t ext4 /dev/nullb1 /tmp/mnt
in_cg one dd if=/dev/zero of=/tmp/mnt/one bs=1M count=8 status=none
in_cg two dd if=/dev/zero of=/tmp/mnt/two bs=1M count=4 status=none
sync
[ "$(stat_of one nullb1 wbytes)" -ge 8388608 ] || fail "one: $(cat $CG/one/io.htbs.stat)"
[ "$(stat_of two nullb1 wbytes)" -ge 4194304 ] || fail "two: $(cat $CG/two/io.htbs.stat)"
[ "$(stat_of two nullb1 wbytes)" -lt 8388608 ] || fail "two: $(cat $CG/two/io.htbs.stat)"
umount /tmp/mnt

# A driver with one tag and no budget: no request is chosen before the one in flight is done.
null_disk nullb2 hw_queue_depth=1 completion_nsec=1000000
scheduler nullb2 htbs
reserve one nullb2 bw=1M
echo 64 >/sys/block/nullb2/queue/nr_requests
echo >/sys/kernel/tracing/trace
echo 1 >/sys/kernel/tracing/events/htbs/htbs_dispatch/enable
verify one nullb2 --rw=randread --verify=0 --number_ios=500 --ioengine=libaio --iodepth=32
# Those of a plug are dispatched as they arrive, but not all of them.
verify one nullb2 --rw=randread --verify=0 --number_ios=500 --ioengine=libaio --iodepth=32 \
	--iodepth_batch_submit=16 --iodepth_batch_complete_min=16
echo 0 >/sys/kernel/tracing/events/htbs/enable
expect "in_flight=1" "$(grep -o 'in_flight=[0-9]*' /sys/kernel/tracing/trace | sort -u)" "in flight"

for disk in nullb0 nullb1 nullb2 sim0 sda; do
	scheduler $disk none
done
rmmod htbs
