#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of Guest.run(), in both kinds of guest: prepare, run the script, leave the
# result in a directory.
#
#   run.sh IN RESULT COMMAND…
#
# IN holds the guest's files and .harness/ (this file, guest.sh, script). RESULT receives out/,
# exit, tainted and dmesg. COMMAND is the shell that runs the script.

IN=$1 RESULT=$2
shift 2
OUT=$RESULT/out
TMPDIR=/tmp
export IN OUT TMPDIR

mounted()
{
	grep -q "^[^ ]* $1 $2 " /proc/mounts
}

# ensure_mount TYPE DIRECTORY
ensure_mount()
{
	mounted "$2" "$1" || mount -t "$1" "$1" "$2"
}

ensure_mount debugfs /sys/kernel/debug
ensure_mount tracefs /sys/kernel/tracing
ensure_mount cgroup2 /sys/fs/cgroup
echo +io >/sys/fs/cgroup/cgroup.subtree_control
dmesg -n 8

mkdir -p "$OUT"
cd "$OUT" || exit 1
# shellcheck disable=SC2016
"$@" -e -c '. "$IN/.harness/guest.sh"; . "$IN/.harness/script"' 2>&1
echo $? >"$RESULT/exit"
# What leaked is known after the second scan, and only if it is older than some seconds.
if [ -e /sys/kernel/debug/kmemleak ]; then
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak >"$RESULT/kmemleak"
fi
cat /proc/sys/kernel/tainted >"$RESULT/tainted"
dmesg >"$RESULT/dmesg"
