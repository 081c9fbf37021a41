"""Make the page results/README.md from the summary alone."""

import textwrap
from collections.abc import Callable, Iterable

from results.lab import summary, words
from results.lab.experiment import KIB
from results.lab.run import SPEED
from results.lab.study import Case, Claim, Runs, Study
from results.lab.summary import Summary

HTBS = "htbs"

# Characters in a line of a paragraph, and how lines begin that are not part of one.
_WIDTH = 120
_NO_PARAGRAPH = ("|", "- ", "#", " ", "!")

_HEAD = """\
# Results of the laboratory

`make lab` generates this page. It runs each experiment below in a virtual machine with Debian's
kernel {kernel}, a [simulated drive](../tests/simdisk) and virtual time: the only CPU executes
{speed} instructions per nanosecond, and idle time is skipped. The numbers are therefore the same on
every machine, to the digit. The page shows losses of HTBS in the same way as gains.

    make lab                    # run the experiments that have no raw data
    make lab EXPERIMENT=name    # run one experiment; each section has its command
    make lab PAGE=1             # make the page and the figures from the summary, without a run

[summary.json](summary.json) has the numbers of each run, its tunables, the versions of the kernel
and the programs, and a hash of all inputs for each seed. The raw data (fio's options and report,
the settings of the cgroups, `io.htbs.stat`) are not in the tree. `make lab` keeps them in
`build/results/raw`, and `make lab LIST=1` lists them.

[census.md](census.md) runs eight of the workloads on drives drawn at random.

## Schedulers, drives and terms

**Schedulers.** *HTBS* is the module with its default settings. The title of any other form of HTBS
lists all tunables that are set. *paper b_max=20* is the same elevator with the dispatch rule of the
paper: it serves one group for up to B_max requests and waits for its next one for up to 10 ms,
whatever is due meanwhile. The claims of the paper are about this form. *pClock* is *paper b_max=1
t_wait_us=0*, which has no runs and no waits. BFQ, mq-deadline, kyber and none have their default
settings unless the title lists tunables. *BFQ max_budget=160 low_latency=0* has the paper's B_max
as its budget: 20 requests of 4 KB, in sectors. *The paper* is P. E. Rocha and L. C. E. de Bona,
"Sistemas de Armazenamento Compartilhado com Qualidade de Serviço e Alto Desempenho"; *5.1* to *5.3*
are its experiments.

**Drives.** *The paper's disk* is a 7200 rpm disk of 80 GB without command queueing. *The nearline
disk* has 18 TB and takes up to 32 requests, of which it serves the nearest first. *The flash drive*
is a TLC drive of a third of the size and speed of a real one; it has 8 dies.

**Groups without a reservation** share one default reservation (`default_bw`). The rest of the
device's time is divided by weight, equally by default, and the time of a write counts three times.

**Terms.** A KB is 1024 bytes. A request *conforms* if its group has submitted no more than its
reservation allows, bandwidth and burst, up to this request. HTBS guarantees the reserved latency to
conforming requests only, and tells which ones these are. The column *late* counts the requests
that took longer than the reserved latency, whether or not they conform, of all that completed. The
*offered* load of a job is what fio tries to submit.

A reservation is *kept* if the group gets its bandwidth, or its offered load if that is less, and no
conforming request is late. Under a scheduler without reservations, all requests count as
conforming. Here a single late request breaks a reservation, although HTBS by default allows one in
1000 to be late (`late_one_in`), and one in 100 on flash beside writes.

If a scheduler ran several times, bandwidths are means, request counts are sums, and the largest
latency is that of the worst run.
"""


_BARS = """\
{held} of {all} claims about HTBS hold, with its default settings or with the tunables named in the
claim. The last column has the numbers if a claim does not hold; the linked section has those of all
claims.
"""


def text(studies: Iterable[Study], found: Summary, bench: str) -> str:
    """Return the page in Markdown. bench is the section about the price of scheduling, if any."""
    numbers = {
        study.name: summary.numbers(study, found)
        for study in studies
        if summary.shows(found, study)
    }
    kernel = " and ".join(summary.kernels(studies, found))
    parts = [filled(_HEAD.format(kernel=kernel, speed=SPEED)), _states(studies, found)]
    paper = _decided(studies, numbers, lambda claim: claim.paper)
    bars = _decided(studies, numbers, lambda claim: not claim.rule, broken_only=True)
    head = filled(_BARS.format(**_counted(studies, numbers)))
    parts += ["## The paper's claims\n\n" + paper, f"## What HTBS is held to\n\n{head}\n\n{bars}"]
    parts += [_glance(studies, numbers, bench)]
    for study in studies:
        parts += _study(study, numbers.get(study.name))
    if bench:
        parts.append(filled(bench))
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def _states(studies: Iterable[Study], found: Summary) -> str:
    """Say which commit each experiment was run with."""
    states: dict[str, list[str]] = {}
    for study in studies:
        if summary.shows(found, study):
            for state in summary.sources(study, found):
                states.setdefault(state, []).append(study.name)
    before = states.pop("", [])
    lines = [
        filled(f"Run with the scheduler and the drives of commit {state}: {', '.join(names)}.")
        for state, names in sorted(states.items())
    ]
    if before:
        lines.append(f"Run with an older commit, which was not recorded: {', '.join(before)}.")
    return "\n\n".join(lines)


def _study(study: Study, found: Runs | None) -> list[str]:
    parts = [f"## {study.title}", filled(study.asked), f"    make lab EXPERIMENT={study.name}"]
    if found is None:
        return [*parts, "Not run yet."]
    parts += [_claims(study, study.claims(found))]
    parts += [f"![{study.title}](figures/{study.name}.png)", study.table(study, found)]
    words_of = filled(study.words(study, found))
    return [*parts, words_of] if words_of else parts


def filled(text: str) -> str:
    """Wrap the paragraphs anew; lists, tables, headings and code stay as they are."""
    blocks = (block.strip("\n") for block in text.split("\n\n"))
    return "\n\n".join(
        block
        if any(line.startswith(_NO_PARAGRAPH) for line in block.splitlines())
        else textwrap.fill(block, _WIDTH, break_long_words=False, break_on_hyphens=False)
        for block in blocks
    )


def _decided(
    studies: Iterable[Study],
    numbers: dict[str, Runs],
    wanted: Callable[[Claim], bool],
    *,
    broken_only: bool = False,
) -> str:
    """Return a table of the claims that are wanted.

    broken_only: with the numbers only of the claims that do not hold.
    """
    lines = ["| experiment | claim | | numbers |", "|---|---|---|---|"]
    for study in studies:
        for claim in study.claims(numbers[study.name]) if study.name in numbers else []:
            if wanted(claim):
                cells = (
                    f"[{claim.case}](#{anchor(study.title)})",
                    claim.claim,
                    _verdict(claim),
                    "" if broken_only and claim.holds else claim.evidence,
                )
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _counted(studies: Iterable[Study], numbers: dict[str, Runs]) -> dict[str, int]:
    """Count the claims about HTBS, and those that hold."""
    claims = [
        claim
        for study in studies
        if study.name in numbers
        for claim in study.claims(numbers[study.name])
        if not claim.rule
    ]
    return {"held": sum(claim.holds for claim in claims), "all": len(claims)}


def _glance(studies: Iterable[Study], numbers: dict[str, Runs], bench: str) -> str:
    """Return a table with a line and a link for each experiment."""
    lines = ["## The experiments", ""]
    heads = ("experiment", "all reservations kept under", "highest throughput")
    lines += [f"| {' | '.join(heads)} | HTBS relative to it |"]
    lines += ["|---|---|---|---|"]
    for study in studies:
        link = f"[{study.title}](#{anchor(study.title)})"
        own = [case for case in study.cases if not case.first.runs_of]
        cases = [case for case in own or study.cases if _has_peers(case)]
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
    """Return true if HTBS is compared with other schedulers."""
    return any(not each.reserves for each in case.first.schedulers)


def _case(case: Case, runs: Runs) -> str:
    kept = "no reservation"
    if words.promised(case.first):
        kept = ", ".join(words.keepers(case, runs)) or "no scheduler"
    first, most = words.by_total(case, runs)[0]
    [htbs] = (each for each in case.first.schedulers if each.name == HTBS)
    share = f"{runs[case.name][HTBS]['total_bw'] / most:.0%}"
    besides = htbs.title.removeprefix("HTBS").strip()
    return f"{kept} | {first}, {most / KIB:,.0f} KB/s | {share}{besides and f' ({besides})'}"


def anchor(title: str) -> str:
    """Return the anchor that code-hosting sites give a heading."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _claims(study: Study, claims: list[Claim]) -> str:
    """Return the claims as a list, or as one for each case if cases have the same claims."""
    if len({each.claim for each in claims}) == len(claims):
        return _listed(claims)
    titles = {case.name: case.title for case in study.cases}
    lists = (
        f"{title}:\n\n{_listed(own)}"
        for name, title in titles.items()
        if (own := [each for each in claims if each.case == name])
    )
    return "\n\n".join(lists)


def _listed(claims: list[Claim]) -> str:
    return "\n".join(f"- {_verdict(each)}: {each.claim} ({each.evidence})" for each in claims)


def _verdict(claim: Claim) -> str:
    return "holds" if claim.holds else "**does not hold**"
