# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Disks are removed under load: requests in flight fail or succeed, and end; those that a cap would
# throttle for minutes, too. The last disk is removed while it is on another scheduler and cgroups
# still have reservations for it. What was written before is still there when a disk is back, if it
# can come back. One disk stays, under load all the time.

# Written to each disk before it is removed.
written="--rw=write --bs=64k --offset=32m --size=1m --ioengine=psync"

# all_ended MAJ:MIN: in ./trace all that arrived at the disk has completed or was merged. Its
# io.htbs.stat has gone with it.
all_ended()
{
	local sums
	sums=$(awk -v disk="$1" '
		/^# entries-in-buffer/ {
			split($3, entries, "/")
			gaps = entries[1] != entries[2]
		}
		match($0, / htbs_(arrive|merge|complete): /) {
			for (at = 1; $at !~ /^htbs_.*:$/; at++)
				;
			if ($(at + 1) != disk)
				next
			for (field = at + 2; field <= NF; field++) {
				split($field, pair, "=")
				is[pair[1]] = pair[2]
			}
			request = $at == "htbs_merge:" ? is["gone"] : is["request"]
			if ($at == "htbs_arrive:") {
				arrived++
				twice += request in under_way
				under_way[request]
			} else if ($at == "htbs_merge:" ? request >= 0 : !is["requeued"]) {
				ended++
				unknown += !(request in under_way)
				delete under_way[request]
			}
		}
		END {
			for (request in under_way)
				left++
			if (arrived && arrived == ended && !left && !twice && !unknown && !gaps)
				printf "all of "
			print arrived + 0 " arrived, " ended + 0 " ended, " left + 0 " left, " \
				twice + 0 " arrived twice, " unknown + 0 " only ended" \
				(gaps ? ", the recording has gaps" : "")
		}' trace)
	[[ $sums = "all of "* ]] || fail "$1: $sums"
	echo "$1: $sums"
}

# there DISK: it is back, and has what was written before.
there()
{
	wait_for 30 test -b "/dev/$1"
	scheduler "$1" htbs
	reserve a "$1" bw=1M
	# shellcheck disable=SC2086
	verify a "$1-after" "/dev/$1" $written --verify_only
	adds_up a "$1"
	adds_up . "$1"
}

disk nullb0
disk nullb1
scsi_disk
load simdisk devices=2 backing=1
load htbs
scheduler nullb1 htbs
# All but what has numbers in the end. The kernel's own form of a MAJ:MIN has 20 bits for MIN.
IFS=: read -r major minor <<<"$(dev nullb1)"
echo "dev != $((major << 20 | minor))" >/sys/kernel/tracing/events/htbs/filter
echo >/sys/kernel/tracing/trace
record
load_disk nullb1
gone=()
for disk in nullb0 "$scsi" sim0 sim1; do
	gone+=("$(dev "$disk")")
	scheduler "$disk" htbs
	reserve a "$disk" bw=1M
	reserve b "$disk" bw=4K max=4K
	# shellcheck disable=SC2086
	verify a "$disk-before" "/dev/$disk" $written
	in_cg a fio --name=gone --filename="/dev/$disk" --direct=1 --size=8m --eta=never \
		--rw=randrw --ioengine=libaio --iodepth=32 --time_based --runtime=600 \
		>/dev/null 2>&1 &
	load=$!
	in_cg b dd if="/dev/$disk" of=/dev/null bs=256k iflag=direct status=none 2>/dev/null &
	capped=$!
	wait_for 20 grep -q '[1-9]' "/sys/block/$disk/inflight"
	goes_on a "$disk"
	wait_for 20 grep -q 'throttled by its cap' "/sys/kernel/debug/block/$disk/sched/backlog"
	[ "$disk" != sim1 ] || scheduler sim1 none
	case $disk in
	nullb0) echo 0 >/sys/kernel/config/nullb/nullb0/power ;;
	sim*) echo "${disk#sim}" >/sys/module/simdisk/parameters/remove ;;
	*) echo 1 >"/sys/block/$disk/device/delete" ;;
	esac
	wait_for 20 test ! -e "/sys/block/$disk"
	wait $load && fail "the load on $disk did not fail"
	# It ends, though not with an error: a disk that is gone has no blocks to read.
	wait $capped || :
	for group in a b; do
		expect "$(dev nullb1)" "$(cut -d ' ' -f 1 $CG/$group/io.htbs)" \
			"disks of $group when $disk is gone"
	done
	[ ! -e failed ] || fail "$(cat failed)"
done
echo 1 >/sys/kernel/config/nullb/nullb0/power
there nullb0
adapter=/sys/bus/pseudo/drivers/scsi_debug/adapter0
put "- - -" $adapter/host*/scsi_host/host*/scan >/dev/null
wait_for 30 sh -c "ls $adapter/host*/target*/*/block"
there "$(basename $adapter/host*/target*/*/block/*)"
ended nullb1
recorded
for id in "${gone[@]}"; do
	all_ended "$id"
done
