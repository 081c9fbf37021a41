# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# bpftrace counts every event while two readers are at the simulated disk. The tools of
# scripts/bpftrace run, too, and ftrace records what they should say.

# tool NAME [GROUP]: start a tool, for a group; its output is in NAME or NAME-GROUP.
tool()
{
	_file=$1${2:+-$2}
	bpftrace "$IN/$1.bt" ${2:+"$(cat "$2.id")"} >"$_file" 2>&1 &
	tracers="$tracers $!"
	# The first line comes when all probes are attached.
	wait_for 120 grep -q -e '^Tracing' -e '^TIME' "$_file"
}

load simdisk
load htbs
scheduler sim0 htbs
# Under emulation a reader may think longer than 10 ms.
expect_put OK 1000000 /sys/block/sim0/queue/iosched/t_wait_us
cg random sequential
for name in random sequential; do
	stat -c %i "$CG/$name" >"$name.id"
done
echo 4096 >/sys/kernel/tracing/buffer_size_kb
echo 1 >/sys/kernel/tracing/events/htbs/enable
bpftrace -e '
	tracepoint:htbs:* { @[probe] = count(); }
	tracepoint:htbs:htbs_dispatch { @bytes[args->group] = sum(args->bytes); }
	BEGIN { printf("begin\n"); }' >bpftrace 2>&1 &
tracers=$!
wait_for 120 grep -q begin bpftrace
for name in htbslat htbslate htbsidle htbsflow; do
	tool $name
done
tool htbslate random
# What no disk can do: all turns come late, so there is an overload to see, too.
reserve random sim0 bw=200K burst=8K latency=10
reserve sequential sim0 bw=800K burst=8K latency=10
for name in random sequential; do
	rw=read
	[ $name = sequential ] || rw=randread
	in_cg $name fio --name=$name --filename=/dev/sim0 --direct=1 --bs=4k --size=1g \
		--eta=never --output-format=json --output=$name.json --ioengine=libaio --iodepth=1 \
		--rw=$rw --number_ios=200 &
	eval "$name=\$!"
done
# shellcheck disable=SC2154
wait "$random" "$sequential"
# Pending requests merge, also with each other.
in_cg sequential fio --name=writer --filename=/dev/sim0 --direct=1 --bs=4k --size=1m --eta=never \
	--ioengine=libaio --iodepth=32 --rw=randwrite >/dev/null
# The writer's last turn is over when another one begins.
in_cg random fio --name=last --filename=/dev/sim0 --direct=1 --bs=4k --size=1g --eta=never \
	--output-format=json --output=last.json --ioengine=libaio --iodepth=1 --rw=randread --number_ios=1
# shellcheck disable=SC2086
kill -INT $tracers
for tracer in $tracers; do
	wait "$tracer"
done
echo 0 >/sys/kernel/tracing/events/htbs/enable
cat /sys/kernel/tracing/trace >trace
for name in random sequential; do
	settled $name sim0
	cp "$CG/$name/io.htbs.stat" "$name.stat"
done
cat bpftrace htbslat htbslate htbsidle htbsflow
scheduler sim0 none
rmmod htbs
