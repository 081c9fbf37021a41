# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Ten thousand cgroups with reservations on one disk, each of which does I/O.

COUNT=10000
# On a debug kernel those take more than nine minutes.
[ "$PATIENCE" = 1 ] || COUNT=$((COUNT / 10))
# Where the groups' blocks begin, behind those of the loads.
BLOCKS=20971520

# but FILE CONDITION: the groups whose file has no line of the disk of which awk's condition is true;
# is[KEY] are the line's numbers, group is the group's.
but()
{
	(cd $CG/many && awk -v of="$(dev nullb0)" -v count="$COUNT" '
		$1 == of {
			for (field = 2; field <= NF; field++) {
				split($field, pair, "=")
				is[pair[1]] = pair[2]
			}
			split(FILENAME, path, "/")
			group = path[2]
			if ('"$2"')
				good[group]
		}
		END {
			for (group = 1; group <= count; group++)
				if (!(group in good))
					print group
		}' ./*/"$1")
}

# each_has WHAT FILE CONDITION: that of no group.
each_has()
{
	local others
	others=$(but "$2" "$3")
	expect "" "$(head -n 10 <<<"$others")" "groups without $1"
}

each_reserves()
{
	each_has "their reservation" io.htbs 'NF == 4 && is["bw"] == 4096 && is["burst"] == 4096 &&
		is["latency"] == group * 10'
}

# each_gets write|read: a request of each group completes.
each_gets()
{
	visit "$1" /dev/nullb0 $BLOCKS $CG/many "$COUNT" 2>visit.log || fail "$(cat visit.log)"
	# A request is counted after its submitter is woken.
	sleep "$PATIENCE"
	each_has "one $1" io.htbs.stat 'is["completed"] == 1 && is["inserted"] == 1 + is["merged"] &&
		is["'"${1:0:1}"'bytes"] == 4096'
}

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
each_reserves
each_gets write
# The disk changes its scheduler, and comes back to HTBS.
scheduler nullb0 none
scheduler nullb0 htbs
each_reserves
each_gets read
ended nullb0
(cd $CG/many && seq "$COUNT" | xargs rmdir)
