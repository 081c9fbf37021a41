# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Only with fault injection: a driver requeues requests before it starts them, requests time out,
# completions are lost.

# attributes DIRECTORY PROBABILITY INTERVAL: fail in so many per cent, at most each so manieth time.
attributes()
{
	echo "$3" >"$1/interval"
	echo -1 >"$1/times"
	echo 0 >"$1/verbose"
	echo "$2" >"$1/probability"
}

disk nullb0
load htbs
scheduler nullb0 htbs
config=/sys/kernel/config/nullb/nullb0

# Requeued: all I/O succeeds.
load_disk nullb0
attributes $config/requeue_inject 100 5
sleep $((LOAD / 4))
ended nullb0
attributes $config/requeue_inject 0 1

# Timed out: the request fails, and only that; what was written before is still there. fio knows
# ETIMEDOUT by its number.
written="--rw=write --bs=64k --offset=32m --size=8m --ioengine=psync"
# shellcheck disable=SC2086
verify a written /dev/nullb0 $written
echo 500 >/sys/block/nullb0/queue/io_timeout
attributes $config/timeout_inject 100 50
in_cg b fio --name=timeouts --filename=/dev/nullb0 --direct=1 --eta=never --rw=randread --bs=4k \
	--size=8m --io_size=4m --ioengine=libaio --iodepth=16 --ignore_error=110 \
	>timeouts.log 2>&1 || fail "$(cat timeouts.log)"
attributes $config/timeout_inject 0 1
dmesg | grep -q 'null_blk: rq .* timed out' || fail "nothing timed out"
# shellcheck disable=SC2086
verify a written /dev/nullb0 $written --verify_only
for group in a b .; do
	adds_up $group nullb0
done

# The completion of a SCSI command is lost: it is aborted and sent again.
scsi_disk
echo 1 >"/sys/block/$scsi/device/timeout"
scheduler "$scsi" htbs
load_disk "$scsi"
attributes /sys/kernel/debug/fail_io_timeout 100 300
echo 1 >"/sys/block/$scsi/io-timeout-fail"
sleep $((LOAD / 4))
ended "$scsi"
attributes /sys/kernel/debug/fail_io_timeout 0 1
