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
		# The host's disk takes time that no instruction counts. So the virtual clock skips
		# to the next timer, and the task that writes may seem to hang. By now all that the
		# script has seen hang has been reported.
		hung=/proc/sys/kernel/hung_task_timeout_secs
		[ ! -w $hung ] || echo 0 >$hung
		modprobe virtio_mmio
		modprobe virtio_blk
		tar -c -f /dev/vda -C /run/result .
		sync
	fi
fi
busybox poweroff -f
