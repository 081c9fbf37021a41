# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the scripts of both kinds of guest share; sourced before the script.

PATH=$IN/.harness:$PATH

# Kernel.patience
case $(uname -r) in
*-debug | *-kcsan | *-rtdebug) PATIENCE=6 ;;
*) PATIENCE=1 ;;
esac

# fail MESSAGE: end the script here.
fail()
{
	echo "FAIL: $*" >&2
	exit 1
}

# expect WANTED GOT [WHAT]: fail unless the two are the same.
expect()
{
	[ "$1" = "$2" ] || fail "${3:-value}: expected '$1', got '$2'"
}

# expect_put RESULT STRING FILE: write STRING to FILE with one write(2); RESULT is
# OK or the name of the errno.
expect_put()
{
	expect "$1" "$(put "$2" "$3")" "put '$2' $3"
}

# wait_for SECONDS COMMAND…: until COMMAND succeeds; fail after SECONDS, of a stock kernel's time.
wait_for()
{
	_tenths=$(($1 * 10 * PATIENCE))
	shift
	while ! "$@" >/dev/null 2>&1; do
		[ "$_tenths" -gt 0 ] || fail "waited in vain: $*"
		_tenths=$((_tenths - 1))
		sleep 0.1
	done
}

# cg NAME…: make a cgroup, with the io controller on the way down to it.
cg()
{
	for _name in "$@"; do
		_dir=/sys/fs/cgroup
		while :; do
			put +io "$_dir/cgroup.subtree_control" >/dev/null || fail "no io in $_dir"
			_first=${_name%%/*}
			_dir=$_dir/$_first
			mkdir -p "$_dir"
			[ "$_first" != "$_name" ] || break
			_name=${_name#*/}
		done
	done
}

# in_cg NAME COMMAND…: run COMMAND, an executable, in a cgroup.
in_cg()
{
	sh -c 'echo $$ >"/sys/fs/cgroup/$1/cgroup.procs" && shift && exec "$@"' sh "$@"
}

# load NAME [PARAMETER=VALUE…]: load $IN/NAME.ko.
load()
{
	_module=$1
	shift
	insmod "$IN/$_module.ko" "$@"
}

# scheduler DISK [NAME]: print or set the scheduler of a disk.
scheduler()
{
	if [ $# -eq 1 ]; then
		sed 's/.*\[\(.*\)\].*/\1/' "/sys/block/$1/queue/scheduler"
	else
		expect_put OK "$2" "/sys/block/$1/queue/scheduler"
	fi
}
