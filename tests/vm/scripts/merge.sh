# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Merges of every kind. The data is verified, and the counts must add up. A disk takes one request at
# a time, so the others are pending and can be merged.

# counts: the disk's I/Os and merges so far, of $kind.
counts()
{
	tr -s ' ' <"/sys/block/$disk/stat" | sed 's/^ //' | case $kind in
	read) cut -d' ' -f1,2 ;;
	write) cut -d' ' -f5,6 ;;
	discard) cut -d' ' -f12,13 ;;
	esac
}

# count KIND COMMAND…: run; $ios and $merges are what the disk counted.
count()
{
	kind=$1
	shift
	_before=$(counts)
	"$@" >fio.log 2>&1 || fail "$*: $(cat fio.log)"
	_now=$(counts)
	ios=$((${_now% *} - ${_before% *}))
	merges=$((${_now#* } - ${_before#* }))
}

# job CGROUP OPTION…: fio of 4 KiB requests.
job()
{
	_group=$1
	shift
	in_cg "$_group" fio --name=job --filename=/dev/$disk --direct=1 --bs=4k --size=1m \
		--ioengine=libaio --iodepth=32 "$@"
}

# some_merges WHAT: the last count had 256 I/Os or merges, and some merges.
some_merges()
{
	expect 256 $((ios + merges)) "$1: I/Os and merges"
	[ $merges -gt 50 ] || fail "$1: $merges merges"
	settled one $disk
}

load simdisk size_mb=64 backing=1 discard=1
disk=sim0
load htbs
scheduler $disk htbs
cg one two
reserve one $disk bw=1M burst=64K latency=50000
reserve two $disk bw=1M burst=64K latency=50000

# A bio behind a pending request, and one in front of it.
count write job one --rw=write --verify=crc32c
some_merges "back"
count write job one --rw=write:-8k --offset=1020k --io_size=1m --verify=crc32c
some_merges "front"

# A request with a pending one, when a bio closes the gap between them, ...
count write job one --rw=randwrite --verify=crc32c
some_merges "gap"
[ "$(stat_of one $disk merged)" -gt 0 ] || fail "no request was merged with another"

# ... and when it comes out of a plug.
_merged=$(stat_of one $disk merged)
count write job one --rw=randwrite --iodepth_batch=16 --iodepth_batch_complete=16 --verify=crc32c
some_merges "plug"
[ "$(stat_of one $disk merged)" -gt "$_merged" ] || fail "no request was merged at insertion"

# Discards. A block device takes one at a time, so each comes from a partition of its own; a cap
# throttles all but the first for a second, so they are pending together.
cg three
reserve three $disk bw=4K burst=4K latency=10000000 max=4K
for _part in 1 2 3 4 5 6 7 8; do
	addpart /dev/$disk $_part $((_part * 8)) 8
done
discard()
{
	for _part in 1 2 3 4 5 6 7 8; do
		in_cg three blkdiscard /dev/${disk}p$_part &
	done
	wait
}
count discard discard
expect 8 $((ios + merges)) "discards and merges"
[ $merges -ge 4 ] || fail "$merges merges of discards"
settled three $disk

# The neighbour's requests are adjacent, and are not merged with the group's.
alternate()
{
	job one --rw=write:4k --io_size=512k --verify=crc32c &
	job two --rw=write:4k --io_size=512k --offset=4k
	wait
}
count write alternate
expect 0 $merges "merges across groups"
expect 256 $ios "I/Os of two groups"

# Nor are a group's requests merged across its reservations: what was pending under its parent's cap
# when it got one of its own stays there, and the next one is not throttled with it.
cg parent/child
reserve parent $disk bw=4K burst=4K max=4K
job parent/child --rw=write:1020k --size=6m >/dev/null &
sleep 1
reserve parent/child $disk bw=1M burst=64K latency=50000
job parent/child --rw=write --offset=5124k --size=4k >fio.log 2>&1 || fail "$(cat fio.log)"
expect 0 "$(stat_of parent $disk merged)" "merges across the reservations of a group"
[ "$(stat_of parent $disk completed)" -lt 6 ] || fail "the cap does not hold"
wait
settled parent $disk
settled parent/child $disk

# On a device that does not seek requests are merged at the back. Where nothing merged for 64
# requests none is looked up until 1,024: 128, 256 writes and as many reads that verify them, 374.
scheduler $disk none
echo 0 >/sys/block/$disk/queue/rotational
scheduler $disk htbs
reserve one $disk bw=1M burst=64K latency=50000
count write job one --rw=write --verify=crc32c
some_merges "back, on a device that does not seek"
count read job one --rw=read:4k
expect "128 0" "$ios $merges" "I/Os and merges of requests that are apart"
count write job one --rw=write --verify=crc32c
expect 0 $merges "merges after 128 requests without one"
expect 256 $ios "I/Os after 128 requests without a merge"
count read job one --rw=read:4k --size=6m --number_ios=374
count write job one --rw=write --verify=crc32c
some_merges "back, after 1,024 requests"

scheduler $disk none
rmmod htbs
