# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Recordings on simulated disks: the demonstration's pair, random mixes, a writer that is held back
# ($IN/mix.sh).

load simdisk size_mb=4096 discard=1 write_cache=1
load htbs
record
. "$IN/mix.sh"
recorded
rmmod htbs
