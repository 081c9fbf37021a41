# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the rows of the matrix share: verified loads, and cleaning up. After guest.sh and lib.sh.

rounds=0
RANDOM=$SEED
# The service time of a request, ns: loads wait for the disk, in the scheduler, and not for the
# guest's CPUs. A debug kernel has slow CPUs, and disks that are three times as slow.
takes=20000000
[ "$PATIENCE" = 1 ] || takes=60000000
# By "GROUP DISK": how much the group will have read when its load has verified all once.
declare -A verified_at

# sleep SECONDS: a builtin. A process takes a debug kernel a quarter of a second, and loops that wait
# sleep often.
exec {never}<> <(:)
sleep()
{
	read -rt "$1" -u "$never" || :
}

# verify GROUP NAME FILE OPTION…: fio writes 2 MiB and reads them back. It ends at the first mistake,
# which is kept in ./failed; to be killed before is none. Not with fio's randseed: it takes
# its own second pass for a mistake then. One process: when it is gone its requests are, too.
verify()
{
	local group=$1 name=$2 file=$3 status=0
	shift 3
	in_cg "$group" fio --thread --name="$name" --filename="$file" --direct=1 --eta=never \
		--size=2m --verify=crc32c --verify_fatal=1 "$@" >"$name.log" 2>&1 || status=$?
	[ $status = 0 ] || [ $status = 137 ] || echo "$name: $status $(head -20 "$name.log")" >>failed
}

# number FILE DISK KEY: a number of the disk's line in a cgroup's file, to $number; 0 without a line.
# It is asked for often, so it starts no process.
number()
{
	local id of line
	number=0
	read -r id <"/sys/block/$2/dev"
	while read -r of line; do
		[ "$of" != "$id" ] || [[ " $line" != *" $3="* ]] || number=${line##*"$3="}
	done <"$CG/$1"
	number=${number%% *}
}

# load_from GROUP DISK FILE BYTES OPTION…: the group writes so much to the file, which is the disk or
# on it, reads it back, and begins again, in the background until `all_right`.
load_from()
{
	local group=$1 disk=$2 file=$3 bytes=$4
	shift 4
	number "$group/io.stat" "$disk" rbytes
	verified_at["$group $disk"]=$((number + bytes))
	verify "$group" "$group-$disk" "$file" --size="$bytes" --loops=1000000 "$@" \
		2>/dev/null &
}

# verified: has each load?
verified()
{
	local load
	for load in "${!verified_at[@]}"; do
		number "${load% *}/io.stat" "${load#* }" rbytes
		[ -e failed ] || [ "$number" -ge "${verified_at[$load]}" ] || return
	done
}

# disk NAME [ATTRIBUTE=VALUE…]: a null_blk disk that keeps its data and has a service time. But data races
# want CPUs that are busy.
disk()
{
	local time=$takes
	[ ! -e /sys/module/kcsan ] || time=50000
	null_disk "$1" memory_backed=1 submit_queues=2 hw_queue_depth=8 completion_nsec=$time "${@:2}"
}

# load_disk DISK: three loads, of the groups a and b, which are made and given reservations, and of
# c, which has none. Their depths are drawn.
load_disk()
{
	local disk=$1
	cg a b c
	reserve a "$disk" bw=10M burst=256K latency=10000
	reserve b "$disk" bw=1M
	load_from a "$disk" "/dev/$disk" 8388608 --rw=randwrite --bsrange=4k-64k --ioengine=libaio \
		--iodepth=$((RANDOM % 60 + 4))
	load_from b "$disk" "/dev/$disk" 2097152 --rw=write --bs=4k --offset=8m --ioengine=io_uring \
		--iodepth=$((RANDOM % 24 + 8)) --iodepth_batch=8 --iodepth_batch_complete=8
	load_from c "$disk" "/dev/$disk" 262144 --rw=randwrite --bs=4k --offset=16m --ioengine=psync
	begun=$EPOCHSECONDS
}

# flood GROUP DISK OPTION…: the group is backlogged, in the background until `all_right`.
flood()
{
	local group=$1 disk=$2
	shift 2
	in_cg "$group" fio --thread --name=flood --filename="/dev/$disk" --direct=1 --eta=never \
		--rw=randread --ioengine=libaio --iodepth=256 --time_based --runtime=3600 "$@" \
		>/dev/null 2>&1 &
}

# more LEAST: is there to be another round? For $LOAD seconds, and so many rounds at least; not when
# a load has failed.
more()
{
	[ ! -e failed ] || return
	[ "$rounds" -lt "$1" ] || [ $((EPOCHSECONDS - begun)) -lt "$LOAD" ] || return
	rounds=$((rounds + 1))
}

# goes_on GROUP DISK: a request of the group completes after this call.
goes_on()
{
	number "$1/io.htbs.stat" "$2" completed
	(wait_for 30 completes "$1" "$2" "$number") || fail "$1: $(cd /sys/kernel/debug/block/"$2" &&
		grep -s . sched/{state,backlog} hctx*/{sched_tags,dispatch})"
}

# completes GROUP DISK COUNT: has the group had more than so many requests?
completes()
{
	number "$1/io.htbs.stat" "$2" completed
	[ -e failed ] || [ "$number" -gt "$3" ]
}

# ended DISK…: I/O gets through to the last, and when the loads are over the numbers add up.
ended()
{
	local disk group
	for disk in "$@"; do
		for group in a b c; do
			goes_on $group "$disk"
		done
	done
	all_right
	for disk in "$@"; do
		for group in a b c; do
			adds_up $group "$disk"
		done
	done
}

# adds_up GROUP DISK: what is charged to it has ended.
adds_up()
{
	(wait_for 20 stays_settled "$1" "$2") 2>/dev/null || settled "$1" "$2"
}

# stays_settled GROUP DISK: do the numbers add up, and are they still the same a little later? A
# request is counted after its submitter is woken. Of a process that has moved on, one may
# come yet that waited for a tag.
stays_settled()
{
	(
		settled "$1" "$2"
		before=$_line
		sleep 0.2
		settled "$1" "$2"
		expect "$before" "$_line"
	)
}

# all_right: the loads end when each is through once, and all data is right. fio is killed: it may
# hang if it is asked to end while it verifies.
all_right()
{
	wait_for 120 verified
	busybox killall -q -9 fio || :
	wait
	verified_at=()
	[ ! -e failed ] || fail "$(cat failed)"
	[ "$rounds" = 0 ] || echo "$rounds rounds"
}

# scsi_disk OPTION…: a disk of scsi_debug, of 64 MiB, as $scsi; as `disk`, it has a service time.
scsi_disk()
{
	modprobe sd_mod
	modprobe scsi_debug dev_size_mb=64 submit_queues=2 max_queue=16 ndelay=$takes "$@"
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

# on_ext4 DEVICE, off_ext4 DEVICE: make a file system and mount it on /tmp/mnt; take it away, to find
# nothing wrong with it.
on_ext4()
{
	modprobe ext4
	mkfs.ext4 -qF "$1"
	mkdir -p /tmp/mnt
	mount -t ext4 "$1" /tmp/mnt
}

off_ext4()
{
	umount /tmp/mnt
	fsck.ext4 -fn "$1" >fsck.log 2>&1 || fail "$(cat fsck.log)"
}

# tree DIRECTORY: a tree of files of all sizes, and SUMS, what is in them.
tree()
{
	local file
	RANDOM=$SEED
	for file in $(seq 40); do
		mkdir -p "$1/$((file % 7))/$((file % 3))"
		head -c $((RANDOM * RANDOM % 200000)) /dev/urandom >"$1/$((file % 7))/$((file % 3))/$file"
	done
	(cd "$1" && find . -type f ! -name SUMS -exec sha256sum {} + >SUMS)
}

# intact DIRECTORY…: the trees have their checksums.
intact()
{
	local copy
	for copy in "$@"; do
		(cd "$copy" && sha256sum -c SUMS >/tmp/sums) || fail "$copy: $(grep -v 'OK$' /tmp/sums)"
	done
}

# remount: what is read from now on comes from the disk.
remount()
{
	local device
	device=$(sed -n 's|^\([^ ]*\) /tmp/mnt .*|\1|p' /proc/mounts)
	umount /tmp/mnt
	mount -t ext4 "$device" /tmp/mnt
}

# clean: no file system, no disk, no module and no cgroup is left.
clean()
{
	local path
	wait
	cd "$OUT"
	rm -rf failed ./*.log ./*.state
	for path in /tmp/mnt*; do
		! mountpoint -q "$path" || umount "$path"
	done
	[ ! -e /sys/block/dm-0 ] || wait_for 10 dmsetup --noudevrules --noudevsync remove_all
	for path in /sys/block/md*/md/array_state; do
		[ ! -e "$path" ] || wait_for 10 put clear "$path"
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

# give_up: clean up after a row that failed.
give_up()
{
	busybox killall -q -9 fio dd cp || :
	[ ! -e /sys/bus/pseudo/drivers/scsi_debug/opts ] || inject 0 0
	clean
}
