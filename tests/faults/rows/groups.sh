# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Ten thousand cgroups with reservations on one disk, of which every fiftieth does I/O.

COUNT=10000
# On a debug kernel those take more than nine minutes.
[ "$PATIENCE" = 1 ] || COUNT=$((COUNT / 10))

disk nullb0
load htbs
scheduler nullb0 htbs
cg many
put +io $CG/many/cgroup.subtree_control >/dev/null
(cd $CG/many && seq "$COUNT" | xargs mkdir)
line="$(dev nullb0) bw=4K burst=4K latency="
for number in $(seq "$COUNT"); do
	echo "$line$((number * 10))" >"$CG/many/$number/io.htbs"
done
load_disk nullb0
for number in $(seq 50 50 "$COUNT"); do
	in_cg "many/$number" dd if=/dev/nullb0 of=/dev/null bs=4k count=1 iflag=direct status=none
	adds_up "many/$number" nullb0
	expect 1 "$completed" "reads of group $number"
done
# The disk leaves them, and finds them again.
scheduler nullb0 none
scheduler nullb0 htbs
expect "bw=4096 burst=4096 latency=$((COUNT * 10))" "$(in_force "many/$COUNT" nullb0)"
ended nullb0
(cd $CG/many && seq "$COUNT" | xargs rmdir)
