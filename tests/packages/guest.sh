#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a guest with Debian on its disk does, as a service of its systemd. /dev/vdb is a tar: this
# script, what it is to do, the packages and the guide's commands. /dev/sda is the disk that HTBS is
# tried on.

exec >/dev/ttyS0 2>&1
export PATH=/usr/sbin:/usr/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive HOME=/root
data=/srv/data
cd /

install()
{
	apt-get -qy --no-install-recommends install /run/build/deb/*.deb
}

# The disk that the guide is about.
prepare()
{
	mkfs.ext4 -q -L data /dev/sda
	mkdir $data
	echo "LABEL=data $data ext4 defaults 0 2" >>/etc/fstab
	mount $data
}

# The guide's commands, as they stand there; /run is the clone. A question of apt is answered with y.
# Exit code 3 is htbsctl's for what needs attention; no step makes sense after another one.
guide()
{
	cd /run || exit
	for block in guide-*.sh; do
		echo "== ${block%.sh}"
		yes | bash -e "$block"
		code=$?
		echo "rc: $code"
		((code == 0 || code == 3)) || end
	done
	cd /
}

end()
{
	echo "== end"
	systemctl --no-block poweroff
	exit
}

installed()
{
	dkms status
	echo "signer: $(modinfo -F signer htbs)"
}

# What node_exporter has of it.
metrics()
{
	sleep 20
	python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:9100/metrics").read().decode())' |
		grep htbs_
	systemctl --no-pager --lines 5 status htbs-metrics.service
}

# What an operator sees, once files are laid out and both services do I/O.
show()
{
	for _ in {1..120}; do
		grep -qs 'conforming=[1-9]' /sys/fs/cgroup/system.slice/database.service/io.htbs.stat && break
		sleep 1
	done
	echo "scheduler: $(cat /sys/block/sda/queue/scheduler)"
	htbsctl status
	echo "top: $(htbsctl top --once --json --interval 10)"
	htbsctl explain database.service $data
	cat /etc/htbs/htbs.conf
	systemctl --no-pager --lines 20 status htbs.service
}

# A kernel that is too old, with the headers of another: one line says so.
refuse()
{
	mkdir -p /lib/modules/5.10.0-1-amd64
	ln -s "$(readlink -f "/lib/modules/$(uname -r)/build")" /lib/modules/5.10.0-1-amd64/build
	version=$(dkms status htbs | sed -n 's|^htbs/\([0-9.]*\).*|\1|p' | head -1)
	dkms build "htbs/$version" -k 5.10.0-1-amd64 && echo "built"
	cat "/var/lib/dkms/htbs/$version/build/make.log"
	rm -r /lib/modules/5.10.0-1-amd64
}

upgrade()
{
	systemctl stop backup database
	apt-get -qy --no-install-recommends install /upgrade/*.deb
	dkms status
	ls -d /lib/modules/*/updates/dkms/*
}

# Under Secure Boot, with no key enrolled.
reject()
{
	lockdown
	modprobe htbs
	htbsctl doctor
}

# Under Secure Boot, with DKMS's key enrolled.
reboot()
{
	lockdown
	show
	echo "signer: $(modinfo -F signer htbs)"
}

lockdown()
{
	echo "lockdown: $(cat /sys/kernel/security/lockdown)"
}

remove()
{
	systemctl stop backup database
	htbsctl disable $data
	apt-get -qy purge htbs-tools htbs-dkms
	dkms status
	modprobe -r htbs
	modprobe htbs && echo "still there"
	find / -xdev -iname '*htbs*' -not -path '/var/log/*' -not -path '/var/cache/*'
	echo "removal: done"
}

for file in /run/steps-*.sh; do
	[[ -e $file ]] && . "$file"
done
for step in $(cat /run/steps); do
	echo "== $step on $(uname -r)"
	$step
done
end
