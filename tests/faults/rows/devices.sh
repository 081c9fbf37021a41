# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# A thousand disks of one host, which share its tags, and a cgroup with a reservation on each.

COUNT=1000
# For lockdep the locks of each disk are of a class of their own, and it has no room for so many.
[ "$PATIENCE" = 1 ] || COUNT=$((COUNT / 10))

# read_all OPTION…: read from all of them, one after the other. fio would look for each disk among all
# for its statistics, and invalidate its cache.
read_all()
{
	in_cg a fio --name=all --filename_format="/dev/nullb\$filenum" --nrfiles=$COUNT --direct=1 \
		--rw=randread --bs=4k --size=$((COUNT * 64))k --ioengine=libaio --iodepth=64 \
		--file_service_type=roundrobin --disk_util=0 --invalidate=0 --eta=never "$@"
}

ulimit -n 4096
load htbs
cg a
# Fast ones would have loads take the CPUs, and a queue that is frozen waits for all of them.
modprobe null_blk nr_devices=$COUNT shared_tags=1 gb=1 irqmode=2 completion_nsec=20000000 \
	submit_queues=2 hw_queue_depth=32
wait_for 60 test -b /dev/nullb$((COUNT - 1))
for number in $(seq 0 $((COUNT - 1))); do
	echo htbs >"/sys/block/nullb$number/queue/scheduler"
	echo "$(<"/sys/block/nullb$number/dev") bw=1M" >$CG/a/io.htbs
done
expect $COUNT "$(grep -c 'bw=1048576 burst=1048576 latency=1000000$' $CG/a/io.htbs)" reservations
read_all --io_size=$((COUNT * 8))k >read.log 2>&1 || fail "$(cat read.log)"
expect $COUNT "$(awk 'BEGIN { RS = "[ \n]"; FS = "=" }
	$1 == "inserted" { inserted = $2 }
	$1 == "merged" { merged = $2 }
	$1 == "completed" && $2 > 0 && inserted == merged + $2 { good++ }
	END { print good }' $CG/a/io.htbs.stat)" "disks whose numbers add up"

# Under load every other one leaves; the rest go with their host.
read_all --time_based --runtime=600 >/dev/null 2>&1 &
wait_for 20 grep -q '[1-9]' /sys/block/nullb0/inflight
for number in $(seq 0 2 $((COUNT - 1))); do
	echo none >"/sys/block/nullb$number/queue/scheduler"
done
expect $((COUNT / 2)) "$(grep -c . $CG/a/io.htbs)" "disks that stay"
busybox killall fio
wait
rmmod null_blk
expect 0 "$(grep -c . $CG/a/io.htbs)" "lines when all disks are gone"
