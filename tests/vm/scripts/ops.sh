# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Groups with reserved operations, on the simulated disk. test_ops.py judges.

load simdisk
load htbs
scheduler sim0 htbs
cg app greedy small large
disk=sim0
export JOB="--filename=/dev/sim0 --size=2g --time_based --ioengine=libaio"
expect_put OK 4096 /sys/block/sim0/queue/iosched/default_bw
expect_put OK 4096 /sys/block/sim0/queue/iosched/default_burst

# Large reads within the reserved operations, beside a reader that is always backlogged, ...
run=alone
reserve app sim0 iops=25 burst=8K latency=100000
expect "bw=max burst=8192 latency=100000 iops=25" "$(in_force app sim0)"
job greedy 5 --rw=randread --iodepth=32 --offset=2g &
job app 5 --rw=randread --bs=128k --iodepth=8 --rate_iops=20
wait
stats app
# ... small ones, twice as many as are reserved, with enough bytes reserved: with a weight, so that
# the clock doesn't jump for them, ...
run=beside
reserve app sim0 bw=4M iops=10 weight=100
begin=$(stat_of app sim0 conforming)
job greedy 5 --rw=randread --iodepth=32 --offset=2g &
job app 5 --rw=randread --iodepth=8 --rate_iops=20
wait
stats app
echo $(($(stat_of app sim0 conforming) - begin)) >beside.conforming
# ... and the same without reserved operations.
run=bytes
reserve app sim0 iops=max
expect "bw=4194304 burst=8192 latency=100000 weight=100" "$(in_force app sim0)"
begin=$(stat_of app sim0 conforming)
job greedy 5 --rw=randread --iodepth=32 --offset=2g &
job app 5 --rw=randread --iodepth=8 --rate_iops=20
wait
stats app
echo $(($(stat_of app sim0 conforming) - begin)) >bytes.conforming

# Surplus is divided by the operations reserved, 1 : 3.
run=shares
reserve app sim0 none
reserve large sim0 iops=5 burst=8K latency=100000
reserve small sim0 iops=15 burst=8K latency=100000
job large 10 --rw=randread --bs=64k --iodepth=16 &
job small 10 --rw=randread --iodepth=16 --offset=2g
wait
stats large small

# Another scheduler and back: they are in force again.
scheduler sim0 none
scheduler sim0 htbs
expect "bw=max burst=8192 latency=100000 iops=5" "$(in_force large sim0)"
scheduler sim0 none
rmmod htbs
