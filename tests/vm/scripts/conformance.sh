# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Recordings on the simulated disk: the demonstration's pair, then random mixes ($IN/mix.sh).

load simdisk size_mb=4096 discard=1 write_cache=1
load htbs
record
. "$IN/mix.sh"
recorded
rmmod htbs
