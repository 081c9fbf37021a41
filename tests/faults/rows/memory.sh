# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Each allocation of each initialisation fails once: the operation fails as if it had not been
# begun or works without, and the next one, with memory, works.

SCHEDULERS=/sys/block/nullb0/queue/scheduler
# Operations that failed with another error than -ENOMEM.
odd=

# each WHAT BEFORE AFTER ARGUMENT…: run `nth N ARGUMENT…` for N = 1, 2, … until all allocations of the
# system call have failed once; the commands BEFORE and AFTER surround each. How many there are
# varies, as a slab may be full, so five calls in a row have to make less than N.
each()
{
	local what=$1 before=$2 after=$3 n failed=0 over=0 state
	local -A seen=()
	shift 3
	for ((n = 1; n < 3000 && over < 5; n++)); do
		eval "$before"
		state=$(nth $n "$@") || fail "nth $n $*"
		eval "$after"
		case $state in
		# The driver's own point for a fault is one of the N: its request times out.
		*" OK" | *" ENOMEM" | "injected ETIMEDOUT") ;;
		*) odd+="; $what: $state" ;;
		esac
		seen[${state#* }]=$((${seen[${state#* }]-0} + 1))
		if [ "${state%% *}" = injected ]; then
			failed=$((failed + 1)) over=0
		else
			expect "done OK" "$state" "$what without a fault"
			over=$((over + 1))
		fi
	done
	[ $failed -gt 0 ] && [ $over = 5 ] || fail "$what: $failed allocations failed, then $state"
	echo "$what: $failed allocations failed$(for state in "${!seen[@]}"; do
		printf ', %s %s' "${seen[$state]}" "$state"
	done)"
}

# below FUNCTION: what it and all that it calls allocates may fail from now on, and nothing else.
# Without one, everything.
below()
{
	local start=0 end=0xffffffffffffffff kind
	[ $# = 0 ] || read -r -d '' start _ _ end _ < <(grep -m 1 -A 1 " $1\$" /proc/kallsyms) || :
	for kind in failslab fail_page_alloc; do
		echo "0x${start#0x}" >/sys/kernel/debug/$kind/require-start
		echo "0x${end#0x}" >/sys/kernel/debug/$kind/require-end
	done
}

loaded()
{
	[ -d /sys/module/htbs ]
}

is_on()
{
	local all
	read -r all <$SCHEDULERS
	[[ $all == *"[$1]"* ]] || fail "on $all, not $1: $state"
}

# Allocations that may sleep fail, too, and those of one page; a failure is not reported.
for kind in failslab fail_page_alloc; do
	echo N >/sys/kernel/debug/$kind/ignore-gfp-wait
	echo 0 >/sys/kernel/debug/$kind/verbose
done
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
disk nullb0
cg m/n mkdir

# The files are there if the module is loaded. Before the module's first instruction the kernel
# allocates for itself, some eight hundred times: that is left out.
strip --strip-debug -o /tmp/htbs.ko "$IN/htbs.ko"
below do_one_initcall
whole()
{
	case $state in
	*OK) [ -e $CG/m/io.htbs ] && [ -e $CG/m/io.htbs.stat ] || fail "no files: $state" ;;
	*) ! loaded || fail "loaded: $state" ;;
	esac
}
each insmod "! loaded || rmmod htbs" whole insmod /tmp/htbs.ko
loaded || fail "not loaded"
below

switched()
{
	case $state in
	*OK) is_on htbs ;;
	*) is_on none ;;
	esac
	dd if=/dev/nullb0 of=/dev/null bs=4k count=4 iflag=direct status=none
}
each "switch to htbs" "echo none >$SCHEDULERS" switched write htbs $SCHEDULERS

# A reservation is there or it isn't.
line="$(dev nullb0) bw=1M burst=64K latency=5000"
reserved()
{
	case $state in
	*OK) expect "bw=1048576 burst=65536 latency=5000" "$(in_force m/n nullb0)" ;;
	*) expect "" "$(in_force m/n nullb0 | grep -v default)" ;;
	esac
}
remade()
{
	rmdir $CG/m/n
	mkdir $CG/m/n
}
each "a first reservation" remade reserved write "$line" $CG/m/n/io.htbs

each mkdir "rmdir $CG/mkdir" "[ -d $CG/mkdir ] || mkdir $CG/mkdir" mkdir $CG/mkdir
each "io.htbs read" : : read $CG/m/n/io.htbs
each "io.htbs.stat read" : : read $CG/m/n/io.htbs.stat

# The first I/O of a cgroup makes its group; without memory its ancestor's is charged.
each "first I/O" remade : in $CG/m/n read /dev/nullb0

# For the groups of a disk that comes to htbs the kernel asks twice, so one allocation that fails does
# nothing: all fail behind the first BYTES of them. Groups that were made by then go again, and what
# was reserved stays. starved BYTES: to $state.
slab=/sys/kernel/debug/failslab
starved()
{
	echo none >$SCHEDULERS
	echo "$1" >$slab/space
	echo -1 >$slab/times
	echo 100 >$slab/probability
	state=$(put htbs $SCHEDULERS) || :
	echo 0 >$slab/probability
	switched
}
reserve m/n nullb0 "${line#* }"
below blkcg_activate_policy
failed=0
for ((bytes = 0; bytes < 1000000; bytes += 256)); do
	starved $bytes
	[ "$state" = ENOMEM ] || break
	failed=$((failed + 1))
done
below
expect OK "$state" "with memory for $bytes bytes"
[ $failed -ge 3 ] || fail "the groups of three cgroups want no more than $bytes bytes"
reserved
echo "groups: $failed switches failed, until there were $bytes bytes"

load_disk nullb0
ended nullb0
[ -z "$odd" ] || fail "other errors$odd"
