"""Make the section about the price of scheduling from the summary alone."""

from results.bench.cases import BASE, CGROUPS, CROWD, KEPT, SCHEDULERS, TITLES, Case, cases

_OURS = "htbs"
_PEERS = [name for name in SCHEDULERS if name not in (BASE, _OURS)]

_TEXT = """\
## The price of scheduling

How much CPU time does a scheduler cost? The disks are null_blk devices, which move no data, so only
the path of an I/O through fio, the kernel and the scheduler is measured. The numbers are busy time
per I/O in virtual time, where an instruction takes one nanosecond. They count instructions, so they
are the same on any machine, and do not include the effects of caches and contention. Each scheduler
has its default settings.

    make bench

![Time that each scheduler adds to an I/O](bench/cost.png)

{table}

All numbers are in ns per I/O. The column *none* is the whole cost of an I/O without a scheduler;
the others are what a scheduler adds to it. Blocks are of 4 KiB. Depth 32 means batches of up to 32;
sequential requests of a batch merge before they reach a scheduler.

*1* reader uses io_uring on a disk that completes requests immediately, so only the rest of a batch
waits. Under HTBS it has reserved less than it reads, or, if *reserved*, more, so that each request
conforms. *100* readers use libaio, each with this depth, on a disk that takes 64 requests at a time
for 0.2 ms each; the other requests wait in the scheduler or for a tag. The readers are in one
cgroup or in a cgroup each. With {most:,} cgroups, all have done I/O on the disk and have a
reservation under HTBS, but only {crowd} read. A waiting request needs one of the queue's 128 tags,
so no more than 128 reservations can be backlogged, however many there are. At depth 32, the order
in which tags become free makes a difference of a few hundred ns.

{words}
"""


def section(summary: dict) -> str:
    """Return the section in Markdown; the figure is in bench/ of the page's directory."""
    return _TEXT.format(
        table=table(summary), words=words(summary), most=CGROUPS[-1], crowd=CROWD.readers
    )


def table(summary: dict) -> str:
    """Return a table with a row for each case."""
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
    """Say where HTBS is cheaper than the others, and where it is not."""
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
        f"HTBS loses to {TITLES[peer]} in {len(dearer)} of {len(theirs)} cases, by at most"
        f" {worst:,.0f} ns per I/O, and is cheaper in the others."
    )


def _idle(summary: dict, scheduler: str) -> str:
    shares = summary["schedulers"][scheduler]["idle"].values()
    return (
        f"{TITLES[scheduler]} idles the disk in {len(shares)} cases although requests are waiting,"
        f" for {min(shares):.0%} to {max(shares):.0%} of the time. So its cost is spread over fewer"
        " I/Os there."
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
        f"{growth(_OURS, few, many):+,.0f} ns from {few:,} to {many:,} (BFQ:"
        f" {growth('bfq', few, many):+,.0f})"
        for few, many in zip(CGROUPS, CGROUPS[1:], strict=False)
    ]
    return f"With more cgroups, the cost of HTBS per I/O changes by at most {' and '.join(parts)}."


def _cpus(summary: dict) -> str:
    parts = [
        f"{TITLES[name]} {each['scaling_2cpu']:.2f} ({each['iops_2cpu_of_none']:.2f})"
        for name, each in summary["schedulers"].items()
    ]
    return (
        "Scaling: the IOPS of two CPUs, each with a reader at depth 32, relative to one CPU (in"
        f" brackets, relative to two CPUs under none): {', '.join(parts)}. HTBS has one order of"
        " requests for the whole disk, and therefore one lock. This is measured in real time on two"
        " emulated CPUs, so other runs differ a little."
    )


def _memory(summary: dict) -> str:
    held = dict(summary["memory_per_cgroup"])
    own = held.pop("htbs")

    def others(when: str) -> str:
        return ", ".join(f"{TITLES[name]} {each[when]:,}" for name, each in held.items())

    return (
        f"A reservation takes {own['idle']:,} bytes of kernel memory per disk while its group is"
        f" idle ({others('idle')} per cgroup), and {own['used']:,} bytes from its first request"
        f" until one or two minutes after its last one ({others('used')} after an I/O)."
    )
