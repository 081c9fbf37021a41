# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The module is unloaded and loaded.

disk nullb0
load htbs
scheduler nullb0 htbs
load_disk nullb0
while more 2; do
	scheduler nullb0 none
	rmmod htbs
	! grep -q htbs /sys/block/nullb0/queue/scheduler || fail "offered when gone"
	[ ! -e $CG/a/io.htbs ] && [ ! -e $CG/a/io.htbs.stat ] || fail "files when gone"
	sleep 0.1
	load htbs
	scheduler nullb0 htbs
	expect "" "$(in_force a nullb0 | grep -v default)" "reservation of another life"
	reserve a nullb0 bw=10M burst=256K latency=5000
	reserve b nullb0 bw=1M
	goes_on a nullb0
done
ended nullb0
