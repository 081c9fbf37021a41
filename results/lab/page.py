"""The page results/README.md, from the numbers alone."""

from collections.abc import Callable, Iterable
from pathlib import Path

from results.lab import words
from results.lab.experiment import KIB
from results.lab.raw import runs
from results.lab.run import SPEED
from results.lab.study import Case, Claim, Runs, Study

HTBS = "HTBS"

_HEAD = """\
# What HTBS is worth

`make lab` wrote this page. It ran every experiment below in a simulated machine: Debian's kernel
{kernel} as it is, a [simulated drive](../tests/simdisk), and virtual time, where one CPU does
{speed} instructions a nanosecond and idle time is skipped. So the numbers are the same on every
machine, to the digit. What HTBS loses is shown like what it wins.

    make lab                    # what is missing; it says how long that takes
    make lab EXPERIMENT=name    # one experiment; its command is given with it

A KB is 1024 bytes. *Late* are the requests that took longer than the reserved latency. Behind each
number are the files of [raw](raw): what was run (fio's options, what was written to the cgroups,
tunables, kernel, versions, seed), fio's report and `io.htbs.stat`. [summary.json](summary.json) has
all numbers by name. *HTBS* is the scheduler as it is loaded; *HTBS paper* is the same with the
paper's rules (`policy` is `paper`, B_max 20), which is whom the paper's claims are about. *The
paper* is P. E. Rocha and L. C. E. de Bona, "Sistemas de Armazenamento
Compartilhado com Qualidade de Serviço e Alto Desempenho".
"""


def write(studies: Iterable[Study], numbers: dict[str, Runs], bench: str, directory: Path) -> None:
    """Write the page.

    numbers: of the studies that have been run, by name; bench: the section about it, if any.
    """
    parts = [_HEAD.format(kernel=_kernels(studies, directory), speed=SPEED)]
    paper = _decided(studies, numbers, lambda study, claim: claim.paper)
    bars = _decided(studies, numbers, lambda study, claim: study.bars)
    parts += ["## The paper's claims\n\n" + paper, "## What HTBS is held to\n\n" + bars]
    parts += [_glance(studies, numbers, bench)]
    for study in studies:
        parts += _study(study, numbers.get(study.name))
    if bench:
        parts.append(bench)
    (directory / "README.md").write_text("\n".join(part.strip("\n") + "\n" for part in parts))


def _study(study: Study, found: Runs | None) -> list[str]:
    parts = [f"## {study.title}", study.asked, f"    make lab EXPERIMENT={study.name}"]
    if found is None:
        return [*parts, "Not run yet."]
    parts += [f"![{study.title}](figures/{study.name}.png)", study.table(study, found)]
    parts += [_claims(study.claims(found))]
    told = study.words(study, found)
    return [*parts, told] if told else parts


def _kernels(studies: Iterable[Study], directory: Path) -> str:
    """The kernels that the results are from: one, unless a run was left out."""
    saved = (run.load(directory / "raw") for study in studies for run in runs(study))
    return " and ".join(sorted({each["kernel"] for each in saved if each}))


def _decided(
    studies: Iterable[Study], numbers: dict[str, Runs], wanted: Callable[[Study, Claim], bool]
) -> str:
    """A table of those of all claims that are wanted."""
    lines = ["| experiment | claim | | what decides it |", "|---|---|---|---|"]
    for study in studies:
        for claim in study.claims(numbers[study.name]) if study.name in numbers else []:
            if wanted(study, claim):
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
    lines += ["| experiment | who keeps every promise | who moves most | HTBS moves |"]
    lines += ["|---|---|---|---|"]
    for study in studies:
        link = f"[{study.title}](#{anchor(study.title)})"
        peers = any(not each.reserves for each in study.schedulers)
        if study.name not in numbers or not peers:
            lines.append(f"| {link} | | | |")
            continue
        for case in study.cases:
            lines.append(f"| {link}, {case.title} | {_case(case, numbers[study.name])} |")
    if bench:
        title = bench.splitlines()[0].lstrip("# ")
        lines.append(f"| [{title}](#{anchor(title)}) | | | |")
    return "\n".join(lines)


def _case(case: Case, runs: Runs) -> str:
    kept = "nothing is promised"
    if words.promised(case.first):
        kept = ", ".join(words.keepers(case, runs)) or "none of them"
    totals = words.by_total(case, runs)
    first, most = totals[0]
    share = dict(totals)[HTBS] / most
    return f"{kept} | {first}, {most / KIB:,.0f} KB/s | {share:.0%} of that"


def anchor(title: str) -> str:
    """As code-hosting sites make it of a heading."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _claims(claims: list[Claim]) -> str:
    return "\n".join(f"- {_verdict(each)}: {each.claim} ({each.evidence})" for each in claims)


def _verdict(claim: Claim) -> str:
    return "holds" if claim.holds else "**does not hold**"
