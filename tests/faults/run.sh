# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Run the rows $ROWS of the fault matrix, one after the other, each in a shell of its own with $LOAD
# seconds of load and the seed $SEED. The stall detector watches all disks meanwhile.

# After a row that fails it cleans up, if that is possible, and begins the next one.

# in_row COMMAND: run it with what rows share, in a process group of its own: $group, which the
# stall detector finds in ./group.
in_row()
{
	setsid bash -e -c '. "$IN/.harness/guest.sh"; . "$IN/lib.sh"; . "$IN/faults.sh"; eval "$0"' \
		"$1" &
	group=$!
	echo $group >group
	wait $group
}

# One access in so many, a twentieth of the usual, is looked at for data races: CPUs are slow here.
races=/sys/module/kcsan/parameters/skip_watch
[ ! -e $races ] || echo 200 >$races
bash "$IN/watch.sh" group &
export LOAD SEED
failed=
# shellcheck disable=SC2153
for name in $ROWS; do
	echo "row $name"
	begin=$EPOCHSECONDS
	if in_row ". \"$IN/rows/$name.sh\"; clean"; then
		echo "row $name passed, $((EPOCHSECONDS - begin)) s"
	else
		failed="$failed $name"
		kill -9 -- -$group 2>/dev/null || :
		in_row give_up
	fi
done
[ -z "$failed" ] || fail "with seed $SEED:$failed"
