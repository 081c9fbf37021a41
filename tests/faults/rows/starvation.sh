# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Readers that conform, with a latency that the device hardly keeps, lower the quotas. The default
# group, which asks for 80 % of what it reserved, and b, which asks for 200 %, get that all the same.

# readers GROUP DISK COUNT DEPTH: they read blocks of 4k, started 3 ms apart.
readers()
{
	local group=$1 disk=$2 count=$3 depth=$4 nr
	local -a jobs=()
	for nr in $(seq "$count"); do
		jobs+=(--name="$nr" --startdelay=$((nr * 3))ms)
	done
	in_cg "$group" fio --thread --filename=/dev/"$disk" --direct=1 --eta=never --rw=randread \
		--bs=4k --ioengine=libaio --iodepth="$depth" --time_based --runtime=3600 \
		"${jobs[@]}" >/dev/null 2>&1 &
}

# What b and the default group reserved for each time of $seconds, in requests, or what they can ask
# for with four at a time, if that is less. A reader of nullb1, without a scheduler and with as many,
# completes $full, and fewer if the host has no time for the guest: then these have that part of it.
# They have to get nine tenths; half of it on a debug kernel, where I/O waits for the CPUs.
seconds=$((2 * PATIENCE))
full=$((4000000000 / takes * seconds))
percent=90
[ "$PATIENCE" = 1 ] || percent=50
declare -A wanted=([b]=$((100 * seconds)) [.]=$((256 * seconds)))
for group in b .; do
	[ "${wanted[$group]}" -le $full ] || wanted[$group]=$full
done

# counted: what b, the default group and the reader of nullb1 completed, to $all.
counted()
{
	local group reads _
	read -r reads _ </sys/block/nullb1/stat
	all="$reads"
	for group in b .; do
		number $group/io.htbs.stat nullb0 completed
		all="$all $number"
	done
}

# let_go_on: both groups get their part in each time. They and the reader alone get 60 requests in one
# of three: the host may have had no time for the guest.
let_go_on()
{
	local try alone b rest before least
	for try in 1 2 3; do
		counted
		read -r -a before <<<"$all"
		sleep $seconds
		counted
		read -r alone b rest <<<"$all"
		alone=$((alone - before[0]))
		b=$((b - before[1]))
		rest=$((rest - before[2]))
		echo "in $seconds s b got $b requests, the default group $rest, a reader alone $alone"
		[ $alone -le $full ] || alone=$full
		least=$((percent * wanted[b] * alone / full / 100))
		[ $b -ge $least ] || fail "b got $b requests in $seconds s, not $least"
		least=$((percent * ${wanted[.]} * alone / full / 100))
		[ $rest -ge $least ] ||
			fail "the default group got $rest requests in $seconds s, not $least"
		[ $b -lt 60 ] || [ $rest -lt 60 ] || [ $alone -lt 60 ] || return 0
	done
	fail "less than 60 requests in $seconds s, $try times in a row"
}

for disk in nullb0 nullb1; do
	null_disk $disk completion_nsec=$takes hw_queue_depth=64 submit_queues=2
done
load htbs
scheduler nullb0 htbs
scheduler nullb1 none
cg a b
reserve a nullb0 bw=100M burst=1M latency=$((takes * 3 / 2000))
reserve b nullb0 bw=400K burst=16K latency=100000
readers a nullb0 8 1
readers b nullb0 1 4
readers . nullb0 1 4
readers . nullb1 1 4
goes_on a nullb0
begun=$EPOCHSECONDS
sleep $((3 * PATIENCE))
while more 2; do
	let_go_on
	let_go_on
done
busybox killall -q -9 fio || :
wait
for group in a b .; do
	adds_up $group nullb0
done
