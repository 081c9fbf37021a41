"""Print the results of each rule with each load: python -m tests.sim."""

from dataclasses import replace

from tests.sim.loads import (
    FLASH_READ,
    FLASH_WRITE,
    MIXED,
    OVERLOAD_MIXED,
    OVERLOAD_RANDOM,
    PAIR,
    REST,
    after_an_overload,
    apart,
    boundary,
    crowd,
    neighbour,
    queueing_disk,
    scattered_writer,
    steady,
    steady_reader,
    unlimited,
)
from tests.sim.sim import HTBS, MS, PAPER, PCLOCK, SECOND, Client, Knobs, Run, run

RULES = {"pClock": PCLOCK, "paper, B_max 20": PAPER, "paper, B_max 4096": Knobs(4096),
         "HTBS, by age": Knobs(seeks=False), "HTBS": HTBS}
HEAD = ("load", "rule", "MB/s", "late", "conforming", "longest ms", "overload", "got/reserved")
ROW = "{:29}{:18}{:>7}{:>7}{:>12}{:>12}{:>10}{:>14}"


def row(load: str, rule: str, sets: list[list[Client]], seconds: int,
        drive: str = "hd080hj") -> str:
    """Return a row: mean throughput, and late requests and longest wait of all sets."""
    knobs = replace(RULES[rule], t_wait=0) if drive == "tlc" else RULES[rule]
    try:
        runs = [run(clients, knobs, seconds, seed, drive) for seed, clients in enumerate(sets, 1)]
    except OverflowError:  # the rule falls behind an open loop
        return ROW.format(load, rule, "-", "all", "", "", "", "falls behind")
    inside = [client for r in runs for client in r.clients]
    overload = sum(r.whole.overload_ns for r in runs) / (seconds * SECOND * len(runs))
    total = sum(r.total for r in runs) / len(runs)
    return ROW.format(load, rule, f"{total / 1e6:.2f}", sum(c.late for c in inside),
                      sum(c.conforming for c in inside), max(c.wait_max for c in inside) // MS,
                      f"{overload:.0%}", spread(sets[0], runs[0]) if len(runs) == 1 else "")


def spread(clients: list[Client], outcome: Run) -> str:
    """Return the smallest and the largest ratio of a client's throughput to its reservation."""
    got = [rate / client.promise.bw
           for client, rate in zip(clients, outcome.rates(), strict=True)]
    return f"{min(got):.2f}-{max(got):.2f}"


def main() -> None:
    """Run each load for two minutes, and a hundred admitted sets for ten seconds each."""
    loads = {"pair": ([PAIR], 120), "mixed": ([MIXED], 120), "mixed, apart": ([apart(MIXED)], 120),
             "overload, random": ([OVERLOAD_RANDOM], 120),
             "overload, mixed": ([OVERLOAD_MIXED], 120),
             "unlimited, sequential": ([unlimited(sequential=True, size=128 << 10)], 60),
             "unlimited, 4k, apart": ([apart(unlimited(sequential=True))], 60),
             "unlimited, random": ([unlimited(depth=16)], 60)}
    for greedy, bunch in ((0, 1), (1, 1), (2, 1), (0, 8), (2, 8)):
        sets = [boundary(seed, 10, bunch, greedy) for seed in range(100)]
        loads[f"admitted, {greedy} greedy, {bunch} by {bunch}"] = sets, 10
    loads["scattered writes"] = [[scattered_writer()]], 120
    loads["and a reader"] = [[steady_reader(120), scattered_writer()]], 120
    loads["steady pair"] = [apart([steady(client, 120) for client in PAIR])], 120
    loads["after an overload"] = [after_an_overload(120)], 120
    loads["and a random writer"] = [neighbour(120)], 120
    loads["seven sequential readers"] = [crowd(7)], 60, "nearline"
    loads["eight blocks each"] = [crowd(7, depth=8)], 60, "nearline"
    loads["within a second"] = [crowd(7, depth=8, latency=SECOND)], 60, "nearline"
    loads["queueing disk"] = [queueing_disk(60)], 60, "nearline"
    weighted = queueing_disk(60, REST._replace(weight=1), REST._replace(weight=200))
    loads["queueing disk, 1 : 200"] = [weighted], 60, "nearline"
    loads["flash, reads"] = [FLASH_READ], 2, "tlc"
    loads["flash, writes"] = [FLASH_WRITE], 4, "tlc"
    print(ROW.format(*HEAD))
    for load, arguments in loads.items():
        for rule in RULES:
            print(row(load, rule, *arguments))


if __name__ == "__main__":
    main()
