# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the first process does when all is mounted: run the script, or an interactive shell, and end
# the guest. The result goes to the host's directory or, on the virtual clock, as a tar file to the
# disk whose drivers are loaded only when the script is over.

shell=sh
[ -z "$MODULES" ] || shell=bash
if [ ! -e /run/in/.harness/script ]; then
	stty -F $TERMINAL sane
	IN=/run/in ENV=/run/in/.harness/guest.sh \
		setsid sh -c 'exec sh -i <$TERMINAL >$TERMINAL 2>&1'
else
	sh /run/in/.harness/run.sh /run/in /run/result $shell
	if [ -n "$MODULES" ]; then
		cp -r /run/result/. /run/host
	else
		modprobe virtio_mmio
		modprobe virtio_blk
		tar -c -f /dev/vda -C /run/result .
		sync
	fi
fi
busybox poweroff -f
