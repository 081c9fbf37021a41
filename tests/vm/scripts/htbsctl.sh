# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Each command of htbsctl, as an operator gives it. test_htbsctl.py reads what they printed.

chmod +x "$IN/htbsctl"

# ctl NAME ARGUMENT…: run htbsctl; NAME.out, NAME.err and NAME.rc are what it printed and its code.
ctl()
{
	_name=$1
	shift
	_code=0
	"$IN/htbsctl" "$@" >"$_name.out" 2>"$_name.err" || _code=$?
	echo $_code >"$_name.rc"
	echo "$_name: $_code"
}

# keep NAME: what htbs.conf says now.
keep()
{
	cp /etc/htbs/htbs.conf "$1.conf"
}

ctl no-module status
ctl no-module-enable enable sda
ctl no-module-doctor doctor
load htbs
modprobe sd_mod
# Slow, so that the commands find a CPU: 250 requests a second.
modprobe scsi_debug dev_size_mb=64 ndelay=16000000 max_queue=4 num_parts=1
wait_for 20 sh -c "ls /sys/block/sd*"
disk=$(basename /sys/block/sd*)
wait_for 10 test -b "/dev/$disk"
null_disk fast completion_nsec=1000000
echo "$disk" >disk
mkfs.ext4 -q "/dev/${disk}1"
mkdir -p /mnt/data
mount "/dev/${disk}1" /mnt/data

ctl status-before status
ctl enable-dry enable --dry-run /mnt/data
ctl enable enable /mnt/data --nr-requests 128
scheduler "$disk" >enabled
keep enabled
ctl enable-fast enable fast --now
mkdir /sys/fs/cgroup/db
ctl reserve-dry reserve db /mnt/data --bw 4M --latency 50ms --dry-run
ctl reserve reserve db /mnt/data --bw 4M --burst 64K --latency 50ms
in_force db "$disk" >reserved
keep reserved
ctl reserve-max reserve db "$disk" --max 8M --iops 2000
in_force db "$disk" >max
ctl reserve-no-max reserve db "$disk" --max max --iops max
in_force db "$disk" >no-max
ctl reserve-more reserve /sys/fs/cgroup/db "$disk" --weight 200
in_force db "$disk" >more
keep more
ctl status status
ctl status-json status --json
ctl check-unknown check "$disk"
ctl enable-capacity enable "$disk" --capacity-bw 20000000
ctl check check "$disk"
ctl check-more check "$disk" --bw 100M --latency 10ms
ctl check-json check "$disk" --bw 100M --latency 10ms --json
ctl refused reserve db "$disk" --bw 100M
in_force db "$disk" >refused
keep refused

# Load, and what shows it.
in_cg db fio --name=db --filename="/dev/$disk" --direct=1 --rw=randread --bs=4k --rate=128k \
	--eta=never --time_based --runtime=600 --ioengine=libaio >db.log 2>&1 &
mkdir /sys/fs/cgroup/greedy
in_cg greedy fio --name=greedy --filename="/dev/$disk" --direct=1 --rw=randread --bs=16k --iodepth=16 \
	--eta=never --time_based --runtime=600 --ioengine=libaio >greedy.log 2>&1 &
wait_for 20 grep -q "conforming=[1-9]" /sys/fs/cgroup/db/io.htbs.stat
ctl top top --once --interval 2
ctl top-json top --once --json --interval 2 --sort late
# A top that is killed leaves its triggers, and the next one removes them; one that ends by a signal
# leaves nothing.
"$IN/htbsctl" top --json --interval 60 >killed.out 2>&1 &
wait_for 60 grep -q htbsctl_latency \
	/sys/kernel/tracing/instances/htbsctl-$!/events/htbs/htbs_complete/trigger
kill -KILL $!
ls /sys/kernel/tracing/instances >killed
# Of one killed while it ended, only the synthetic event may be left.
echo "htbsctl_latency_4194304 u32 dev" >>/sys/kernel/tracing/synthetic_events
ctl top-again top --once --json --interval 2
ls /sys/kernel/tracing/instances >killed-after
cat /sys/kernel/tracing/synthetic_events >killed-synthetic
# Before, while and after it sets its triggers.
for delay in 0 0.05 0.2; do
	"$IN/htbsctl" top --json --interval 60 >>ended.out 2>&1 &
	wait_for 60 test -e /sys/kernel/tracing/instances/htbsctl-$!
	sleep $delay
	kill -TERM $!
	wait $! || echo $? >>ended.rc
done
ls /sys/kernel/tracing/instances >ended
cat /sys/kernel/tracing/synthetic_events >ended-synthetic
ctl top-plain top --once --no-latency --interval 1
ctl explain explain db "$disk" --seconds 1
ctl explain-greedy explain greedy "$disk" --seconds 1
ctl fit fit db "$disk" --seconds 3
ctl fit-json fit db "$disk" --seconds 3 --json
ctl trace trace "$disk" --seconds 3
ctl trace-json trace "$disk" --seconds 3 --json --output "$PWD/kept"
cat /sys/kernel/tracing/options/blk_cgroup >blk_cgroup
blktrace -d "/dev/$disk" -D /tmp -o other >other.out 2>&1 &
other=$!
wait_for 20 test -e "/sys/kernel/debug/block/$disk/trace0"
ctl trace-busy trace "$disk" --seconds 1
kill -INT $other
wait $other || :
echo 1 >/sys/fs/cgroup/db/cgroup.kill
echo 1 >/sys/fs/cgroup/greedy/cgroup.kill
wait
ls /sys/kernel/tracing/instances >instances
cat /sys/kernel/tracing/synthetic_events >synthetic
ctl fit-nothing fit db "$disk" --seconds 1
ctl calibrate calibrate fast --seconds 2 --depth 1
ctl calibrate-json calibrate fast --seconds 1 --depth 2 --json
ctl calibrate-write calibrate "$disk" --seconds 1 --write-and-destroy-data
ctl metrics metrics
ctl metrics-file metrics --output "$PWD/htbs.prom"
ctl doctor doctor
ctl doctor-json doctor --json

# After a reboot: what is kept is applied to disks and groups that come.
wait_for 10 rmdir /sys/fs/cgroup/db
scheduler "$disk" none
"$IN/htbsctl" watch >watch.out 2>watch.err &
watch=$!
wait_for 10 grep -q '\[htbs\]' "/sys/block/$disk/queue/scheduler"
mkdir /sys/fs/cgroup/db
wait_for 10 grep -q bw=4194304 /sys/fs/cgroup/db/io.htbs
in_force db "$disk" >again
cat "/sys/block/$disk/queue/nr_requests" >again-requests
kill $watch
wait $watch
echo $? >watch.rc

# Wrong input; tests/htbsctl has what is wrong on any host.
ctl bad-device enable sdz
ctl bad-mount enable /proc
ctl bad-target reserve nogroup "$disk" --bw 4M
scheduler fast none
ctl bad-scheduler reserve db fast --bw 4M
mount -t tmpfs -o size=4k tmpfs /etc/htbs
cp more.conf /etc/htbs/htbs.conf
ctl full release db "$disk"
cat /etc/htbs/htbs.conf >full.conf
in_force db "$disk" >full
umount /etc/htbs
echo 'reserve db' >>/etc/htbs/htbs.conf
ctl bad-conf apply
ctl bad-conf-reserve reserve db "$disk" --bw 8M
in_force db "$disk" >bad-conf
sed -i '$d' /etc/htbs/htbs.conf

ctl release release db "$disk"
in_force db "$disk" >released
keep released
ctl release-twice release db "$disk"
ctl disable disable /mnt/data
scheduler "$disk" >disabled
keep disabled
