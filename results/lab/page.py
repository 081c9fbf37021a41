"""The page results/README.md, from the summary alone."""

from collections.abc import Callable, Iterable

from results.lab import summary, words
from results.lab.experiment import KIB
from results.lab.run import SPEED
from results.lab.study import Case, Claim, Runs, Study
from results.lab.summary import Summary

HTBS = "htbs"

_HEAD = """\
# What HTBS is worth

`make lab` wrote this page. It ran every experiment below in a simulated machine: Debian's kernel
{kernel}, a [simulated drive](../tests/simdisk), and virtual time, in which one CPU executes
{speed} instructions a nanosecond and idle time is skipped. So the numbers are the same on every
machine, to the digit. What HTBS loses is shown like what it wins.

    make lab                    # run what has no raw data; it says how long that takes
    make lab EXPERIMENT=name    # one experiment; its command is given with it
    make lab PAGE=1             # page and figures from the summary, without a run

*HTBS* is the scheduler as it is loaded. Any other form of it is named by all tunables that are
written. *paper b_max=20* is the same elevator with the paper's rule and its B_max, and the paper's
claims are about it. *pClock* is *paper b_max=1 t_wait_us=0*. BFQ, mq-deadline and kyber
are as they are loaded, unless tunables are named. *The paper* is P. E. Rocha and L. C. E. de Bona,
"Sistemas de Armazenamento Compartilhado com Qualidade de Serviço e Alto Desempenho".

A KB is 1024 bytes. *Late* are the requests that took longer than the reserved latency, of all that
completed. The numbers of requests are of all runs of a scheduler, the largest latency is that of
the worst run, and bandwidths are the mean. *Every promise is kept* if each group gets what it
reserved, or what it asks for if that is less, and no conforming request is late. HTBS says which
requests conform; with a scheduler that has no reservations all count. A single late request breaks
a promise here, though HTBS lets one in 1000 be late by default (`late_one_in`), on flash beside
writes one in 100.
[summary.json](summary.json) has the numbers of each run, with a hash of all inputs that it was
measured with, for each seed, the tunables, the kernel and the versions. The raw data (fio's options
and report, what was written to the cgroups, `io.htbs.stat`) are not in the tree: `make lab` keeps
them in `build/results/raw`, and `make lab LIST=1` says which are there.

[census.md](census.md) has eight of the workloads on drives that were drawn at random.
"""


_BARS = """\
All claims about HTBS, as it is loaded or with the tunables that are named; those that do not hold,
too. Where it is compared with the best of some schedulers, these are named, and the numbers have
the paper's rule besides.
"""


def text(studies: Iterable[Study], found: Summary, bench: str) -> str:
    """The page, in Markdown; bench: the section about the price of scheduling, if any."""
    numbers = {
        study.name: summary.numbers(study, found)
        for study in studies
        if summary.shows(found, study)
    }
    kernel = " and ".join(summary.kernels(studies, found))
    parts = [_HEAD.format(kernel=kernel, speed=SPEED), _states(studies, found)]
    paper = _decided(studies, numbers, lambda claim: claim.paper)
    bars = _decided(studies, numbers, lambda claim: not claim.rule)
    parts += ["## The paper's claims\n\n" + paper, f"## What HTBS is held to\n\n{_BARS}\n{bars}"]
    parts += [_glance(studies, numbers, bench)]
    for study in studies:
        parts += _study(study, numbers.get(study.name))
    if bench:
        parts.append(bench)
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def _states(studies: Iterable[Study], found: Summary) -> str:
    """Which state of the sources the numbers of each experiment are of."""
    states: dict[str, list[str]] = {}
    for study in studies:
        if summary.shows(found, study):
            for state in summary.sources(study, found):
                states.setdefault(state, []).append(study.name)
    before = states.pop("", [])
    lines = [
        f"The scheduler and the drives are those of commit {state} in {', '.join(names)}."
        for state, names in sorted(states.items())
    ]
    if before:
        lines.append(f"{', '.join(before)} ran with an older one, before the commit was kept.")
    return "\n\n".join(lines)


def _study(study: Study, found: Runs | None) -> list[str]:
    parts = [f"## {study.title}", study.asked, f"    make lab EXPERIMENT={study.name}"]
    if found is None:
        return [*parts, "Not run yet."]
    parts += [f"![{study.title}](figures/{study.name}.png)", study.table(study, found)]
    parts += [_claims(study.claims(found))]
    words_of = study.words(study, found)
    return [*parts, words_of] if words_of else parts


def _decided(
    studies: Iterable[Study], numbers: dict[str, Runs], wanted: Callable[[Claim], bool]
) -> str:
    """A table of the claims that are wanted."""
    lines = ["| experiment | claim | | what decides it |", "|---|---|---|---|"]
    for study in studies:
        for claim in study.claims(numbers[study.name]) if study.name in numbers else []:
            if wanted(claim):
                cells = (
                    f"[{claim.case}](#{anchor(study.title)})",
                    claim.claim,
                    _verdict(claim),
                    claim.evidence,
                )
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _glance(studies: Iterable[Study], numbers: dict[str, Runs], bench: str) -> str:
    """Each experiment in a line, with a link."""
    lines = ["## The experiments", ""]
    lines += ["| experiment | every promise kept with | most throughput | HTBS |"]
    lines += ["|---|---|---|---|"]
    for study in studies:
        link = f"[{study.title}](#{anchor(study.title)})"
        cases = [case for case in study.cases if _has_peers(case)]
        if study.name not in numbers or not cases:
            lines.append(f"| {link} | | | |")
            continue
        for case in cases:
            lines.append(f"| {link}, {case.title} | {_case(case, numbers[study.name])} |")
    if bench:
        title = bench.splitlines()[0].lstrip("# ")
        lines.append(f"| [{title}](#{anchor(title)}) | | | |")
    return "\n".join(lines)


def _has_peers(case: Case) -> bool:
    """Is HTBS compared with others?"""
    return any(not each.reserves for each in case.first.schedulers)


def _case(case: Case, runs: Runs) -> str:
    kept = "nothing is promised"
    if words.promised(case.first):
        kept = ", ".join(words.keepers(case, runs)) or "no scheduler"
    first, most = words.by_total(case, runs)[0]
    [htbs] = (each for each in case.first.schedulers if each.name == HTBS)
    share = f"{runs[case.name][HTBS]['total_bw'] / most:.0%} of that"
    besides = htbs.title.removeprefix("HTBS").strip()
    return f"{kept} | {first}, {most / KIB:,.0f} KB/s | {share}{besides and f' ({besides})'}"


def anchor(title: str) -> str:
    """As code-hosting sites make it of a heading."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _claims(claims: list[Claim]) -> str:
    return "\n".join(f"- {_verdict(each)}: {each.claim} ({each.evidence})" for each in claims)


def _verdict(claim: Claim) -> str:
    return "holds" if claim.holds else "**does not hold**"
