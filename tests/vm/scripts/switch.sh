# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# To htbs and away from it, idle and under load, with two CPUs and two hardware queues. All data
# is verified.

others="none mq-deadline kyber bfq"

# verify DISK GROUP OPTION…: fio that writes and reads back its own region of the disk.
verify()
{
	local disk=$1 group=$2
	shift 2
	in_cg "$group" fio --name="$group" --filename="/dev/$disk" --direct=1 --eta=never \
		--verify=crc32c --verify_fatal=1 "$@" >"fio-$disk-$group" 2>&1 ||
		echo "$disk $group: $(cat "fio-$disk-$group")" >>failed
}

# The control file's and the module's alias make the first use load the module.
mkdir -p /run/modules
cp -r "/lib/modules/$(uname -r)" /run/modules/
