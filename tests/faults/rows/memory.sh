# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Each allocation of each initialisation fails once: the operation fails as if it had not been
# begun or works without, and the next one, with memory, works.

# What failed with another error than -ENOMEM.
odd=

# each WHAT BEFORE AFTER ARGUMENT…: run `nth N ARGUMENT…` for N = 1, 2, … until all N-1
# allocations of the system call have failed once; the commands BEFORE and AFTER surround each.
each()
{
	local what=$1 before=$2 after=$3 n=0 state
	local -A seen=()
	shift 3
	for ((n = 1; n < 3000; n++)); do
		eval "$before"
		state=$(nth $n "$@") || fail "nth $n $*"
		eval "$after"
		case $state in
		# The driver's own point for a fault is one of the N: its request times out.
		*" OK" | *" ENOMEM" | "injected ETIMEDOUT") ;;
		*) odd+="; $what: $state" ;;
		esac
		seen[${state#* }]=$((${seen[${state#* }]-0} + 1))
		[ "${state%% *}" = injected ] || break
	done
	[ $n -gt 1 ] || fail "$what allocates nothing: $state"
	expect "done OK" "$state" "$what without a fault"
	echo "$what: $((n - 1)) allocations failed$(for state in "${!seen[@]}"; do
		printf ', %s %s' "${seen[$state]}" "$state"
	done)"
}

loaded()
{
	grep -q '^htbs ' /proc/modules
}

# Those who may wait aren't spared, nor those who want one page; and a failure is no news.
for kind in failslab fail_page_alloc; do
	echo N >/sys/kernel/debug/$kind/ignore-gfp-wait
	echo 0 >/sys/kernel/debug/$kind/verbose
done
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
disk nullb0
cg m/n mkdir

# What is loaded has its files; what isn't, hasn't. Debugging information and types would be pages to
# fail, and the files of its events some four hundred allocations, of the kernel's tracing alone.
strip --strip-debug -R .BTF -R _ftrace_events -o /tmp/htbs.ko "$IN/htbs.ko"
whole()
{
	case $state in
	*OK) [ -e $CG/m/io.htbs ] && [ -e $CG/m/io.htbs.stat ] || fail "no files: $state" ;;
	*) ! loaded || fail "loaded: $state" ;;
	esac
}
each insmod "! loaded || rmmod htbs" whole insmod /tmp/htbs.ko
loaded || fail "not loaded"

switched()
{
	case $state in
	*OK) expect htbs "$(scheduler nullb0)" "$state" ;;
	*) expect none "$(scheduler nullb0)" "$state" ;;
	esac
	dd if=/dev/nullb0 of=/dev/null bs=4k count=4 iflag=direct status=none
}
each "switch to htbs" "scheduler nullb0 none" switched write htbs /sys/block/nullb0/queue/scheduler

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

each mkdir "rmdir $CG/mkdir" "mkdir -p $CG/mkdir" mkdir $CG/mkdir
each "io.htbs read" : : read $CG/m/n/io.htbs
each "io.htbs.stat read" : : read $CG/m/n/io.htbs.stat

# The first I/O of a cgroup makes its group; without memory its ancestor's is charged.
each "first I/O" remade : in $CG/m/n read /dev/nullb0

load_disk nullb0
ended nullb0
[ -z "$odd" ] || fail "other errors$odd"
