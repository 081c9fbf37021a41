"""The section of the results' page about the price of scheduling, from the summary alone."""

from results.bench.cases import BASE, CGROUPS, CROWD, KEPT, SCHEDULERS, TITLES, Case, cases

_OURS = "htbs"
_PEERS = [name for name in SCHEDULERS if name not in (BASE, _OURS)]

_TEXT = """\
## The price of scheduling

What does a scheduler cost the CPU? The disks are null_blk's, which move no data: what is left is
the path of an I/O through fio, the kernel and the scheduler. An instruction takes a nanosecond of
virtual time; the numbers are busy time per I/O. They count instructions, so they are the same on
any machine, and show neither caches nor contention. Each scheduler is as it is loaded.

    make bench

![Time that each scheduler adds to an I/O](bench/cost.png)

{table}

*None* is the whole cost of an I/O without a scheduler, ns; the others are what a scheduler adds.
Blocks are of 4 KiB, and depth 32 means batches of up to 32: sequential ones merge before they reach
a scheduler. *One reader* (io_uring) has a disk that completes at once: nothing waits but the rest
of a batch. It has reserved less than it reads under HTBS, or, where *reserved*, more, so that each
request conforms. *100 readers* (libaio), each with this depth, have one that takes 64 requests at a
time for 0.2 ms: the rest waits, in the scheduler or for a tag. They are in one cgroup, or in a
cgroup each. Of {most:,} cgroups all have done I/O on the disk, and have a reservation under HTBS,
and {crowd} read: a request that waits needs one of the queue's 128 tags, so no more reservations
than that can be backlogged, however many there are. The order in which tags become free makes a
difference of some hundred ns at depth 32.

{words}
"""


def section(summary: dict) -> str:
    """Markdown; the figure is where the page's directory has bench/."""
    return _TEXT.format(
        table=table(summary), words=words(summary), most=CGROUPS[-1], crowd=CROWD.readers
    )


def table(summary: dict) -> str:
    """A row for each case, then one for two CPUs."""
    names = [*_PEERS, _OURS]
    rows = [
        ("readers", "pattern", "depth", "cgroups", BASE, *(TITLES[name] for name in names)),
        ("---:", "---", *["---:"] * (len(names) + 3)),
    ]
    for case in cases():
        added = [_added(summary, name, case) for name in names]
        pattern = {"randread": "random", "read": "sequential"}[case.pattern]
        readers = f"{case.load.readers}{', reserved' if case.load == KEPT else ''}"
        place = (readers, pattern, str(case.depth), f"{case.cgroups:,}")
        rows.append((*place, f"{summary['none_ns'][case.name]:,.0f}", *added))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _added(summary: dict, scheduler: str, case: Case) -> str:
    added = summary["schedulers"][scheduler]["added_ns"].get(case.name)
    return "" if added is None else f"{added:+,.0f}"


def words(summary: dict) -> str:
    """Where HTBS is cheaper than the others, and where it is not."""
    lines = [_against(summary, peer) for peer in _PEERS]
    lines += [_idle(summary, name) for name in SCHEDULERS if summary["schedulers"][name]["idle"]]
    return "\n".join(
        f"- {line}" for line in (*lines, _cgroups(summary), _cpus(summary), _memory(summary))
    )


def _against(summary: dict, peer: str) -> str:
    ours = summary["schedulers"][_OURS]["added_ns"]
    theirs = summary["schedulers"][peer]["added_ns"]
    dearer = {case: ours[case] - theirs[case] for case in theirs if ours[case] > theirs[case]}
    if not dearer:
        return f"HTBS is cheaper than {TITLES[peer]} in each case."
    worst = max(dearer.values())
    if len(dearer) == len(theirs):
        least = min(dearer.values())
        return (
            f"HTBS loses to {TITLES[peer]} in each case, by {least:,.0f} to {worst:,.0f} ns per"
            " I/O."
        )
    return (
        f"HTBS loses to {TITLES[peer]} in {len(dearer)} of {len(theirs)} cases, by {worst:,.0f} ns"
        " per I/O at most, and is cheaper in the others."
    )


def _idle(summary: dict, scheduler: str) -> str:
    shares = summary["schedulers"][scheduler]["idle"].values()
    return (
        f"{TITLES[scheduler]} leaves the disk, which has requests waiting, idle in {len(shares)}"
        f" cases, for {min(shares):.0%} to {max(shares):.0%} of the time: there few I/Os bear its"
        " cost."
    )


def _cgroups(summary: dict) -> str:
    def growth(name: str, few: int, many: int) -> float:
        added = summary["schedulers"][name]["added_ns"]
        pairs = [
            (added[case.name], added[Case(case.load, case.pattern, case.depth, few).name])
            for case in cases()
            if case.cgroups == many
            and Case(case.load, case.pattern, case.depth, few) in cases()
        ]
        return max((more - less for more, less in pairs), key=abs)

    parts = [
        f"from {few:,} to {many:,}, {growth(_OURS, few, many):+,.0f} ns per I/O"
        f" (BFQ: {growth('bfq', few, many):+,.0f})"
        for few, many in zip(CGROUPS, CGROUPS[1:], strict=False)
    ]
    return f"With the number of cgroups the price changes, at most: {'; '.join(parts)}."


def _cpus(summary: dict) -> str:
    parts = [
        f"{TITLES[name]} {each['scaling_2cpu']:.2f} ({each['iops_2cpu_of_none']:.2f})"
        for name, each in summary["schedulers"].items()
    ]
    return (
        "Two CPUs, each with a reader at depth 32, do so many times the IOPS of one (in brackets:"
        f" as a part of what they do under none): {', '.join(parts)}. HTBS has one order, and so"
        " one lock, for the whole disk. This is in real time, on two emulated CPUs: other runs"
        " differ a little."
    )


def _memory(summary: dict) -> str:
    held = dict(summary["memory_per_cgroup"])
    own = held.pop("htbs")

    def others(when: str) -> str:
        return ", ".join(f"{TITLES[name]} {each[when]:,}" for name, each in held.items())

    return (
        f"A reservation takes {own['idle']:,} bytes of kernel memory for each disk while its group"
        f" is idle ({others('idle')} for each cgroup), and {own['used']:,} from a request until a"
        f" minute or two after its last ({others('used')} after an I/O)."
    )
