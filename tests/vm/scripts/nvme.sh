# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# An NVMe disk, over TCP to a target in the same guest: a driver with tags, timeouts and a network
# of its own, and discards of many ranges, which merge in a way of theirs.

# target DISK: offer the disk and connect to it as nvme0n1.
target()
{
	modprobe nvme_core multipath=N
	modprobe nvmet-tcp
	modprobe nvme-tcp
	ip link set lo up
	_port=/sys/kernel/config/nvmet/ports/1
	_subsystem=/sys/kernel/config/nvmet/subsystems/target
	mkdir $_port $_subsystem $_subsystem/namespaces/1
	echo 1 >$_subsystem/attr_allow_any_host
	echo "/dev/$1" >$_subsystem/namespaces/1/device_path
	echo 1 >$_subsystem/namespaces/1/enable
	echo tcp >$_port/addr_trtype
	echo ipv4 >$_port/addr_adrfam
	echo 127.0.0.1 >$_port/addr_traddr
	echo 4420 >$_port/addr_trsvcid
	ln -s $_subsystem $_port/subsystems/target
	echo transport=tcp,traddr=127.0.0.1,trsvcid=4420,nqn=target,queue_size=16 >/dev/nvme-fabrics
	wait_for 10 test -b /dev/nvme0n1
}

# job GROUP OPTION…: fio on the NVMe disk.
job()
{
	_group=$1
	shift
	in_cg "$_group" fio --name="$_group" --filename=/dev/nvme0n1 --direct=1 --bs=4k --eta=never \
		--ioengine=libaio "$@" >"$_group.log" 2>&1 || fail "$(cat "$_group.log")"
}

# discards: I/Os and merges of that kind, so far.
discards()
{
	tr -s ' ' </sys/block/nvme0n1/stat | sed 's/^ //' | cut -d' ' -f12,13
}

load htbs
null_disk nullb0 memory_backed=1 discard=1 completion_nsec=10000000
target nullb0
disk=nvme0n1
scheduler $disk htbs
cg one two three
reserve one $disk bw=1M burst=64K latency=50000
reserve two $disk bw=1G burst=1M latency=50000
reserve three $disk bw=4K burst=4K latency=1000000

job one --rw=randrw --size=2m --iodepth=32 --verify=crc32c
settled one $disk

# Eight discards of 4 KiB, the first four adjacent, are pending together behind another group's reads:
# their group has the smallest reservation. A block device takes one at a time, so each comes from a
# partition of its own.
echo 128 >/sys/block/$disk/queue/nr_requests
[ "$(cat /sys/block/$disk/queue/max_discard_segments)" -gt 1 ] || fail "no ranges"
tr '\0' x </dev/zero | dd of=/dev/$disk bs=64k count=4 oflag=direct iflag=fullblock status=none
part=0
for block in 0 1 2 3 8 16 24 32; do
	part=$((part + 1))
	addpart /dev/$disk $part $((block * 8)) 8
done
before=$(discards)
job two --rw=randread --offset=32m --size=16m --iodepth=64 --number_ios=4000 &
reads=$!
wait_for 5 grep -q '^ *[1-9]' /sys/block/$disk/inflight
sleep 0.1
pids=
for part in 1 2 3 4 5 6 7 8; do
	in_cg three blkdiscard /dev/${disk}p$part &
	pids="$pids $!"
done
for pid in $reads $pids; do
	wait "$pid"
done
after=$(discards)
ios=$((${after% *} - ${before% *})) merges=$((${after#* } - ${before#* }))
expect 8 $((ios + merges)) "discards and merges"
[ $merges -ge 2 ] || fail "$merges merges of discards"
settled three $disk
settled two $disk
# Those blocks and no others are discarded.
for block in $(seq 0 39); do
	dd if=/dev/$disk bs=4k skip="$block" count=1 iflag=direct status=none | tr -d 'x' | wc -c
done >blocks
expect "0 1 2 3 8 16 24 32" "$(grep -n 4096 blocks | while IFS=: read -r line _; do
	echo $((line - 1))
done | xargs)" "discarded blocks"

# Another scheduler and back, and the controller is removed, under load.
job one --rw=randread --size=8m --iodepth=32 --time_based --runtime=1 &
sleep 0.5
scheduler $disk mq-deadline
scheduler $disk htbs
wait $!
in_cg one fio --name=gone --filename=/dev/$disk --direct=1 --eta=never --ioengine=libaio --bs=4k \
	--rw=randread --size=8m --iodepth=32 --time_based --runtime=60 >/dev/null 2>&1 &
sleep 0.5
echo 1 >/sys/class/nvme/nvme0/delete_controller
wait_for 10 test ! -e /sys/block/$disk
# To fio reads behind the end succeed, so it would go on; one outstanding may have failed.
killall fio || :
wait
rmmod htbs
