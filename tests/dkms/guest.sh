#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The only process of a guest with Debian on its disk. /dev/vdb is a tar: this script, what it is to
# do, and HTBS as `git archive` packs it.

export PATH=/usr/sbin:/usr/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
mount -o remount,rw /
cd /

# use: load the module and put a disk on it.
use()
{
	modprobe htbs || return
	echo htbs >/sys/block/vdb/queue/scheduler
	echo "scheduler: $(cat /sys/block/vdb/queue/scheduler)"
	dd if=/dev/vdb of=/dev/null bs=64k count=16 iflag=direct status=none && echo "I/O: done"
	echo "signer: $(modinfo -F signer htbs)"
	echo none >/sys/block/vdb/queue/scheduler
	modprobe -r htbs
}

install()
{
	tar -C /usr/src -xf /run/htbs.tar
	dkms install htbs/0.1.0
	dkms status
	use
}

upgrade()
{
	apt-get -qy --no-install-recommends install /upgrade/*.deb 2>&1
	dkms status
	ls -d /lib/modules/*/updates/dkms/*
}

# Under Secure Boot, with no key enrolled.
reject()
{
	lockdown
	modprobe htbs
}

# Under Secure Boot, with DKMS's key enrolled.
reboot()
{
	lockdown
	use
}

lockdown()
{
	mount -t securityfs securityfs /sys/kernel/security
	echo "lockdown: $(cat /sys/kernel/security/lockdown)"
}

remove()
{
	dkms remove htbs/0.1.0 --all
	dkms status
	modprobe htbs && echo "still there"
	find /lib/modules -name 'htbs*'
	echo "removal: done"
}

# A kernel that is too old, with the headers of another: one line says so.
refuse()
{
	mkdir -p /lib/modules/5.10.0-1-amd64
	ln -s "$(readlink -f "/lib/modules/$(uname -r)/build")" /lib/modules/5.10.0-1-amd64/build
	dkms build htbs/0.1.0 -k 5.10.0-1-amd64 && echo "built"
	cat /var/lib/dkms/htbs/0.1.0/build/make.log
	rm -r /lib/modules/5.10.0-1-amd64
}

for step in $(cat /run/steps); do
	echo "== $step on $(uname -r)"
	$step
done
echo "== end"
sync
mount -o remount,ro /
echo o >/proc/sysrq-trigger
sleep 60
