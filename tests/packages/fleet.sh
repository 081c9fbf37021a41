# SPDX-License-Identifier: GPL-2.0
#
# A host that Ansible logs in to: steps for guest.sh. The disk of 256 MiB gets a file system.

fleet()
{
	disk=$(lsblk -bndo NAME,SIZE | sed -n 's, *268435456$,,p')
	mkfs.ext4 -q -L data "/dev/$disk"
	mkdir $data
	mount "/dev/$disk" $data
	for name in database backup; do
		printf '[Service]\nExecStart=/bin/sleep infinity\n' >"/etc/systemd/system/$name.service"
	done
	systemctl daemon-reload
	systemctl start database backup
}

# The address that QEMU's network gives; root's key.
listen()
{
	mkdir -p /run/systemd/network
	printf '[Match]\nType=ether\n[Network]\nAddress=10.0.2.15/24\n' >/run/systemd/network/lan.network
	systemctl start systemd-networkd
	mkdir -p -m 700 "$HOME/.ssh"
	cp /run/key.pub "$HOME/.ssh/authorized_keys"
	systemctl start ssh
	echo "== up"
	sleep infinity
}
