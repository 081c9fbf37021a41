# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A thousand disks of one host, which share its tags, and a cgroup with a reservation on each.

COUNT=1000
# For lockdep the locks of each disk are of a class of their own, and it has no room for so many.
[ "$PATIENCE" = 1 ] || COUNT=$((COUNT / 10))
# What is written to each, and read back.
BYTES=8192

# verify_all OPTION…: write to all of them, one after the other, and read what was written. fio would
# look for each disk among all for its statistics, and invalidate its cache. As with `verify`, a
# mistake is kept in ./failed.
verify_all()
{
	local status=0
	in_cg a fio --thread --name=all --filename_format="/dev/nullb\$filenum" --nrfiles=$COUNT \
		--direct=1 --rw=randwrite --bs=4k --size=$((COUNT * BYTES)) --verify=crc32c \
		--verify_fatal=1 --ioengine=libaio --iodepth=64 --file_service_type=roundrobin \
		--disk_util=0 --invalidate=0 --eta=never "$@" >all.log 2>&1 || status=$?
	[ $status = 0 ] || [ $status = 137 ] || echo "all: $status $(head -20 all.log)" >>failed
}

# add_up DISKS: that many have had I/O, and their numbers add up.
add_up()
{
	# A request is counted after its submitter is woken.
	sleep "$PATIENCE"
	expect "$1" "$(awk 'BEGIN { RS = "[ \n]"; FS = "=" }
		$1 == "inserted" { inserted = $2 }
		$1 == "merged" { merged = $2 }
		$1 == "completed" && $2 > 0 && inserted == merged + $2 { good++ }
		END { print good + 0 }' $CG/a/io.htbs.stat)" "disks whose numbers add up"
}

# all_read: how much of all disks has been read, to $all_read.
all_read()
{
	all_read=$(awk 'BEGIN { RS = "[ \n]"; FS = "=" }
		$1 == "rbytes" { sum += $2 }
		END { printf "%.0f\n", sum }' $CG/a/io.stat)
}

# read_since BYTES: has so much been?
read_since()
{
	all_read
	[ -e failed ] || [ "$all_read" -ge "$1" ]
}

ulimit -n 4096
load htbs
cg a
# Fast ones would have loads take the CPUs, and a queue that is frozen waits for all of them. Where
# tags are shared the driver needs the flag that it may sleep for memory.
modprobe null_blk nr_devices=$COUNT shared_tags=1 gb=1 memory_backed=1 blocking=1 irqmode=2 \
	completion_nsec=20000000 submit_queues=2 hw_queue_depth=32
wait_for 60 test -b /dev/nullb$((COUNT - 1))
for number in $(seq 0 $((COUNT - 1))); do
	echo htbs >"/sys/block/nullb$number/queue/scheduler"
	echo "$(<"/sys/block/nullb$number/dev") bw=1M" >$CG/a/io.htbs
done
expect $COUNT "$(grep -c 'bw=1048576 burst=1048576 latency=1000000$' $CG/a/io.htbs)" reservations
verify_all
[ ! -e failed ] || fail "$(cat failed)"
add_up $COUNT

# Under load every other one leaves; the rest go with their host.
verify_all --loops=1000000 &
wait_for 20 grep -q '[1-9]' /sys/block/nullb0/inflight
for number in $(seq 0 2 $((COUNT - 1))); do
	echo none >"/sys/block/nullb$number/queue/scheduler"
done
expect $((COUNT / 2)) "$(grep -c . $CG/a/io.htbs)" "disks that stay"
# All that has been written meanwhile is read: what is read now may have been written before.
all_read
wait_for 120 read_since $((all_read + 2 * COUNT * BYTES))
busybox killall -q -9 fio || :
wait
[ ! -e failed ] || fail "$(cat failed)"
add_up $((COUNT / 2))
rmmod null_blk
expect 0 "$(grep -c . $CG/a/io.htbs)" "lines when all disks are gone"
