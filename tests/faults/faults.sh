# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the rows of the matrix share: verified loads, and cleaning up. After guest.sh and lib.sh.

rounds=0
RANDOM=$SEED

# verify GROUP NAME FILE OPTION…: fio, checking what it wrote; a failure is kept in ./failed.
# Not with fio's randseed: it takes its own second pass for a mistake then.
verify()
{
	local group=$1 name=$2 file=$3
	shift 3
	in_cg "$group" fio --name="$name" --filename="$file" --direct=1 --eta=never \
		--size=2m --verify=crc32c --verify_fatal=1 "$@" >"$name.log" 2>&1 ||
		echo "$name: $(head -20 "$name.log")" >>failed
}

# load_disk DISK [SECONDS]: three loads, of the groups a and b, which are made and given
# reservations, and of nobody. They run in the background for $LOAD seconds; their depths are drawn.
load_disk()
{
	# Drawn here, for a background job would draw from a seed of its own.
	local one=$((RANDOM % 60 + 4)) two=$((RANDOM % 24 + 8))
	local disk=$1
	cg a b
	reserve a "$disk" bw=10M burst=256K latency=10000
	reserve b "$disk" bw=1M
	set -- --time_based --runtime="${2:-$LOAD}"
	verify a "a-$disk" "/dev/$disk" --rw=randrw --bsrange=4k-64k --ioengine=libaio \
		--iodepth=$one "$@" &
	verify b "b-$disk" "/dev/$disk" --rw=write --bs=4k --ioengine=io_uring --iodepth=$two \
		--iodepth_batch=8 --iodepth_batch_complete=8 --offset=8m "$@" &
	verify . "root-$disk" "/dev/$disk" --rw=randwrite --bs=4k --ioengine=psync \
		--offset=16m "$@" &
}

# busy: is a load still on?
busy()
{
	[ "$(jobs -r | wc -l)" -gt 0 ]
}

# ended LEAST DISK…: the loads are over, all data is right, the numbers add up, and what was done
# meanwhile was done at least so often.
ended()
{
	local least=$1 disk
	shift
	wait
	[ ! -e failed ] || fail "$(cat failed)"
	[ "$rounds" -ge "$least" ] || fail "$rounds rounds"
	for disk in "$@"; do
		settled a "$disk"
		settled b "$disk"
		settled . "$disk"
	done
	[ "$least" = 0 ] || echo "$rounds rounds"
}

# scsi_disk OPTION…: a disk of scsi_debug, of 64 MiB, as $scsi.
scsi_disk()
{
	modprobe sd_mod
	modprobe scsi_debug dev_size_mb=64 "$@"
	wait_for 30 sh -c 'ls /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block'
	scsi=$(basename /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/*)
	wait_for 30 test -b "/dev/$scsi"
}

# inject EVERY OPTS: what scsi_debug does to each EVERYth command; 0 0: nothing.
inject()
{
	echo "$1" >/sys/bus/pseudo/drivers/scsi_debug/every_nth
	echo "$2" >/sys/bus/pseudo/drivers/scsi_debug/opts
}

# tree DIRECTORY: a tree of files of all sizes, and SUMS, what is in them.
tree()
{
	local file
	RANDOM=$SEED
	for file in $(seq 100); do
		mkdir -p "$1/$((file % 7))/$((file % 3))"
		head -c $((RANDOM * RANDOM % 200000)) /dev/urandom >"$1/$((file % 7))/$((file % 3))/$file"
	done
	(cd "$1" && find . -type f ! -name SUMS -exec sha256sum {} + >SUMS)
}

# intact DIRECTORY: the tree is what it was, read from the disk.
intact()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	(cd "$1" && sha256sum --quiet -c SUMS) || fail "$1 is not what was written"
}

# clean: no file system, no disk, no module and no cgroup is left.
clean()
{
	local path
	wait
	cd "$OUT"
	rm -rf failed ./*.log
	for path in /tmp/mnt*; do
		! mountpoint -q "$path" || umount "$path"
	done
	for path in /sys/block/*/queue/scheduler; do
		! grep -qs '\[htbs\]' "$path" || expect_put OK none "$path"
	done
	for path in /sys/kernel/config/nullb/*/; do
		[ ! -e "$path/power" ] || rmdir "$path"
	done
	for path in null_blk scsi_debug simdisk htbs; do
		! grep -q "^$path " /proc/modules || wait_for 10 rmmod $path
	done
	find $CG -mindepth 1 -depth -type d | while read -r path; do
		wait_for 10 rmdir "$path"
	done
}

# give_up: clean up after a row that failed somewhere.
give_up()
{
	busybox killall -q -9 fio dd || :
	[ ! -e /sys/bus/pseudo/drivers/scsi_debug/opts ] || inject 0 0
	clean
}
