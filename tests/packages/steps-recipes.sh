#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Steps of guest.sh: the sections of docs/recipes.md. /run/recipes names them; of each, /run/NAME-N.sh is
# a block as it stands there. Here is, of section NAME, what its commands need, NAME_setup; what is
# done after block N, NAME_N; and what ends it, NAME_end.

for name in $(cat /run/recipes); do
	eval "$name() { recipe $name; }"
done

# recipe NAME: each block by a shell of its own, until a command fails; all that is said, by block.
recipe()
{
	echo "-- setup"
	"$1_setup"
	counters
	for ((n = 1; ; n++)); do
		[[ -e /run/$1-$n.sh ]] || break
		echo "-- block $n"
		timeout 300 bash -e -o pipefail "/run/$1-$n.sh" 2>&1
		echo "exit: $?"
		echo "-- after $n"
		[[ $(type -t "$1_$n") == function ]] && "$1_$n"
		counters
	done
	echo "-- end"
	[[ $(type -t "$1_end") == function ]] && "$1_end"
	cat /etc/htbs/htbs.conf
	journalctl --quiet --no-pager --unit htbs.service --lines 20
}

counters()
{
	echo "counters: $(python3 /run/counters.py)"
}

# filesystem NAME DEVICE: mounted on /srv/NAME. What is initialized later would be the root's I/O.
filesystem()
{
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$2"
	mkdir -p "/srv/$1"
	mount "$2" "/srv/$1"
}

# unit NAME DIRECTORY FIO-OPTIONS: a service that does I/O there.
unit()
{
	cat >"/etc/systemd/system/$1.service" <<-END
		[Service]
		ExecStart=fio --name=$1 --directory=$2 --time_based --runtime=1d --eta=never ${*:3}
	END
	systemctl daemon-reload
}

# await WHAT COMMAND: until it succeeds, for two minutes at most; says how long that was.
await()
{
	local began=$EPOCHREALTIME end=$((EPOCHSECONDS + 120))
	until "${@:2}" || ((EPOCHSECONDS > end)); do
		sleep 0.2
	done
	echo "waited for $1: $(((${EPOCHREALTIME/./} - ${began/./}) / 1000)) ms"
}

# reserved GROUP: it has a reservation of its own. A * stands for what is not known.
reserved()
{
	grep -Eqs 'bw=[0-9a-z]+ burst=[0-9]+ latency=[0-9]+( (weight|max|iops)=[0-9]+)*$' \
		/sys/fs/cgroup/$1/io.htbs
}

# conforms GROUP: requests of its reservation came.
conforms()
{
	grep -qs 'conforming=[1-9]' /sys/fs/cgroup/$1/io.htbs.stat
}

database_and_backup_setup()
{
	filesystem db /dev/vdc
	unit database /srv/db --direct=1 --ioengine=libaio --rw=randread --bs=4k --rate=400k --size=32m
	unit backup /srv/db --direct=1 --ioengine=libaio --rw=read --bs=128k --iodepth=4 --size=96m
	systemctl start database
}

database_and_backup_1()
{
	await database conforms system.slice/database.service
	await backup conforms system.slice/backup.service
}

database_and_backup_2()
{
	await database conforms system.slice/database.service
}

database_and_backup_end()
{
	systemctl stop backup database
}

# A boot sector that reads the eight sectors behind it, again and again:
# xor ax,ax; mov es,ax; mov bx,0x8000; l: mov ax,0x208; mov cx,2; mov dx,0x80; int 0x13; jmp l
boot_sector='\x31\xc0\x8e\xc0\xbb\x00\x80\xb8\x08\x02\xb9\x02\x00\xba\x80\x00\xcd\x13\xeb\xf3'

virtual_machines_under_libvirt_setup()
{
	filesystem vm /dev/vdd
	truncate -s 16M /srv/vm/web_1.img
	printf "$boot_sector" | dd of=/srv/vm/web_1.img conv=notrunc status=none
	printf '\x55\xaa' | dd of=/srv/vm/web_1.img bs=1 seek=510 conv=notrunc status=none
	sync
	cat >/run/web_1.xml <<-'END'
		<domain type='qemu'>
		  <name>web_1</name>
		  <memory unit='MiB'>32</memory>
		  <os><type arch='x86_64' machine='pc'>hvm</type></os>
		  <devices>
		    <disk type='file' device='disk'>
		      <driver name='qemu' type='raw' cache='none'/>
		      <source file='/srv/vm/web_1.img'/>
		      <target dev='vda' bus='virtio'/>
		    </disk>
		  </devices>
		</domain>
	END
	virsh define /run/web_1.xml
}

virtual_machines_under_libvirt_1()
{
	await reads conforms 'machine.slice/machine-qemu*.scope'
	ps -eo pid,cgroup,args | grep '[q]emu-system'
	machinectl list --no-legend
	ls /run/libvirt/qemu
}

virtual_machines_under_libvirt_2()
{
	await reservation reserved 'machine.slice/machine-qemu*.scope'
	sleep 5
	await reads conforms 'machine.slice/machine-qemu*.scope'
}

virtual_machines_under_libvirt_end()
{
	virsh destroy web_1
}

containers_with_podman_setup()
{
	filesystem store /dev/vde
	# There is no network.
	mkdir -p /etc/containers /run/image/bin /run/image/data
	printf '[containers]\nnetns = "none"\n' >/etc/containers/containers.conf
	cp /bin/busybox /run/image/bin/
	cat >/run/image/bin/work <<-'END'
		#!/bin/busybox sh
		while :; do
			/bin/busybox dd if=/dev/zero of=/data/file bs=64k count=4 conv=fsync 2>/dev/null
			/bin/busybox sleep 0.2
		done
	END
	chmod +x /run/image/bin/work
	tar -C /run/image -c . | podman import --quiet --change 'CMD ["/bin/work"]' --change STOPSIGNAL=SIGKILL - \
		localhost/store
}

containers_with_podman_1()
{
	await writes conforms 'machine.slice/libpod-[0-9a-f]*.scope'
}

containers_with_podman_2()
{
	await reservation reserved 'machine.slice/libpod-[0-9a-f]*.scope'
	await writes conforms 'machine.slice/libpod-[0-9a-f]*.scope'
}

containers_with_podman_3()
{
	containers_with_podman_2
}

containers_with_podman_end()
{
	podman rm --force store
}

nfs_server_setup()
{
	filesystem nfs /dev/vdf
	chmod 777 /srv/nfs
	# Clients wait for it after each start of the server.
	printf '[nfsd]\ngrace-time=10\nlease-time=10\n' >/etc/nfs.conf.d/guest.conf
	echo '/srv/nfs *(rw,sync,no_root_squash,no_subtree_check)' >/etc/exports
	mkdir -p /mnt/nfs
	systemctl start nfs-server
	exportfs -ra
	await mount mount -t nfs4 localhost:/srv/nfs /mnt/nfs
}

# client FILE: what it writes to the server, and what it reads from the server's disk; counters of both.
client()
{
	dd if=/dev/zero of="/mnt/nfs/$1" bs=64k count=128 conv=fsync status=none
	sync -f /srv/nfs
	counters
	echo 3 >/proc/sys/vm/drop_caches
	dd if="/mnt/nfs/$1" of=/dev/null bs=64k iflag=direct status=none
}

nfs_server_1()
{
	# The server's unit is active, and has no process to reserve for.
	htbsctl reserve --dry-run nfs-server.service /srv/nfs --bw 2M
	echo "reserve exits with $?"
	client one
}

nfs_server_2()
{
	client two
	counters
	# What the document advises against.
	mkdir /sys/fs/cgroup/nfsd
	for pid in $(pgrep -x nfsd); do
		echo "$pid" >/sys/fs/cgroup/nfsd/cgroup.procs
	done
	htbsctl reserve /nfsd /srv/nfs --bw 2M --latency 500ms
	client three
	counters
	again four
}

# again FILE: it is written again and again, as a database or a virtual machine's disk is.
again()
{
	for _ in {1..40}; do
		dd if=/dev/zero of="/mnt/nfs/$1" bs=64k count=8 conv=fsync,notrunc status=none
	done
}

nfs_server_end()
{
	umount /mnt/nfs
	systemctl stop nfs-server
}

md_and_lvm_setup()
{
	mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --assume-clean /dev/vdg /dev/vdh
	vgcreate -qq mails /dev/md0
	lvcreate -qq --yes --name mail --size 128M mails
	filesystem mail /dev/mails/mail
	vgcreate -qq halves /dev/vdi /dev/vdj
	lvcreate -qq --yes --name left --size 128M halves /dev/vdi
	lvcreate -qq --yes --name right --size 128M halves /dev/vdj
	mdadm --create /dev/md1 --run --level=0 --raid-devices=2 /dev/halves/left /dev/halves/right
	filesystem scratch /dev/md1
	for name in mail scratch; do
		unit $name /srv/$name --direct=1 --rw=randwrite --bs=16k --rate=400k --size=16m
		systemctl start $name
	done
}

md_and_lvm_1()
{
	await mail conforms system.slice/mail.service
	sleep 10
}

md_and_lvm_2()
{
	await scratch conforms system.slice/scratch.service
	echo check >/sys/block/md0/md/sync_action
	sleep 10
}

md_and_lvm_end()
{
	systemctl stop mail scratch
}

parity_raid_setup()
{
	mdadm --create /dev/md5 --run --level=5 --raid-devices=3 --assume-clean \
		/dev/vdk /dev/vdl /dev/vdm
	filesystem archive /dev/md5
	unit archive /srv/archive --direct=1 --rw=randwrite --bs=16k --rate=400k --size=16m
	systemctl start archive
}

parity_raid_1()
{
	sleep 20
	ps -o comm,cgroup -C md5_raid5
}

parity_raid_2()
{
	await writes conforms md5
	sleep 20
	ps -o comm,cgroup -C md5_raid5
}

# LVM's own: the same thread by another name.
parity_raid_end()
{
	systemctl stop archive
	vgcreate -qq parity /dev/vdo /dev/vdp /dev/vdq
	lvcreate -qq --yes --type raid5 --stripes 2 --name own --size 64M parity
	filesystem own /dev/parity/own
	ps -o comm,cgroup -C mdX_raid5
	htbsctl enable /srv/own
	htbsctl explain / /srv/own --seconds 1
}

buffered_writes_setup()
{
	filesystem files /dev/vdn
	# Tenths of seconds instead of half a minute.
	echo 100 >/proc/sys/vm/dirty_expire_centisecs
	echo 50 >/proc/sys/vm/dirty_writeback_centisecs
	unit writer /srv/files --ioengine=psync --rw=write --bs=64k --rate=1m --size=32m
	systemctl start writer
}

# A group without the memory controller that cgroup.controllers shows.
buffered_writes_1()
{
	await writes conforms system.slice/writer.service
	mkdir -p /sys/fs/cgroup/plain/writer
	echo +io >/sys/fs/cgroup/plain/cgroup.subtree_control
	echo "controllers: $(cat /sys/fs/cgroup/plain/writer/cgroup.controllers)"
	(
		echo $BASHPID >/sys/fs/cgroup/plain/writer/cgroup.procs
		dd if=/dev/zero of=/srv/files/plain bs=1M count=16 status=none
	)
	sync -f /srv/files
}

buffered_writes_end()
{
	systemctl stop writer
}

# On a kernel that is booted without the memory controller.
without_memory()
{
	echo "-- setup"
	buffered_writes_setup
	htbsctl enable /srv/files
	htbsctl reserve writer.service /srv/files --bw 4M --latency 500ms
	htbsctl explain writer.service /srv/files --seconds 10
	counters
}
