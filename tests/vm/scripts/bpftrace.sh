# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# bpftrace counts every event while two readers are at the simulated disk.

load simdisk
load htbs
scheduler sim0 htbs
# Under emulation a reader may think longer than 10 ms.
expect_put OK 1000000 /sys/block/sim0/queue/iosched/t_wait_us
cg random sequential
bpftrace -e '
	tracepoint:htbs:* { @[probe] = count(); }
	tracepoint:htbs:htbs_dispatch { @bytes[args->group] = sum(args->bytes); }
	BEGIN { printf("begin\n"); }' >bpftrace 2>&1 &
tracer=$!
wait_for 120 grep -q begin bpftrace
# What no disk can do: all turns come late, so there is an overload to see, too.
reserve random sim0 bw=200K burst=8K latency=10
reserve sequential sim0 bw=800K burst=8K latency=10
for name in random sequential; do
	rw=read
	[ $name = sequential ] || rw=randread
	in_cg $name fio --name=$name --filename=/dev/sim0 --direct=1 --bs=4k --size=1g \
		--eta=never --ioengine=libaio --iodepth=1 --rw=$rw --number_ios=200 >/dev/null &
	eval "$name=\$!"
done
# shellcheck disable=SC2154
wait "$random" "$sequential"
in_cg sequential fio --name=writer --filename=/dev/sim0 --direct=1 --bs=4k --size=1m --eta=never \
	--ioengine=libaio --iodepth=16 --rw=write >/dev/null
kill -INT $tracer
wait $tracer
for name in random sequential; do
	settled $name sim0
	cp "$CG/$name/io.htbs.stat" "$name.stat"
	stat -c %i "$CG/$name" >"$name.id"
done
cat bpftrace
scheduler sim0 none
rmmod htbs
