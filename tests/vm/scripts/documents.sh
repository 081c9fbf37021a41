# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The commands of the documents that are fenced as sh, as they stand there: NAME.rc is the exit code
# of a block. sdb is there, and a shell that waits is what a block's $$ is. After each of them app2
# reads 32 KiB, which conform, so that its numbers tell of requests.

mkdir -p /tmp/bin
printf '#!/bin/sh\nexec "$@"\n' >/tmp/bin/sudo
chmod +x /tmp/bin/sudo
export PATH="/tmp/bin:$PATH"

load htbs
modprobe sd_mod
modprobe scsi_debug dev_size_mb=64 num_tgts=2 delay=0
wait_for 20 test -b /dev/sdb

for document in README operating debugging; do
	for block in "$IN/$document"-*.sh; do
		name=$(basename "$block" .sh)
		code=0
		bash -e "$block" >"$name.out" 2>&1 || code=$?
		echo $code >"$name.rc"
		echo "$name: $code"
		[ ! -d $CG/app2 ] ||
			in_cg app2 dd if=/dev/sdb of=/dev/null bs=4k count=8 iflag=direct status=none
	done
	dd if=/dev/sdb of=/dev/null bs=1M count=1 iflag=direct status=none
	[ ! -d $CG/app2 ] || rmdir $CG/app2
done
