"""The page results/README.md, from the numbers alone."""

from collections.abc import Iterable
from pathlib import Path

from results.lab.raw import Run, runs
from results.lab.study import Claim, Runs, Study

_HEAD = """\
# What HTBS is worth

This page was written by `make lab`, which ran every experiment on it: stock kernel {kernel} in a
simulated machine with a simulated drive, in virtual time. An instruction takes a nanosecond and
idle time is skipped, so the numbers are the same on any machine, to the digit. What wins and what
loses is shown alike. A KB is 1024 bytes. *Late* are the requests that took longer than the reserved
latency.

    make lab                    # all of it, on two cores in less than {minutes} minutes
    make lab EXPERIMENT=name    # one of it; the command is with each below

Behind every number are the files of [raw](raw/): what was run (fio's options, what was written to
the cgroups, tunables, kernel, versions, seed), fio's report and `io.htbs.stat`. `summary.json` has
all numbers by name. "Paper" is Rocha and Bona, *Sistemas de Armazenamento Compartilhado com
Qualidade de Serviço e Alto Desempenho*.
"""

_MINUTES = 40


def write(studies: Iterable[Study], numbers: dict[str, Runs], directory: Path) -> None:
    """Write the page; numbers: of the studies that have been run, by name."""
    parts = [_HEAD.format(kernel=_kernel(studies, directory), minutes=_MINUTES)]
    parts += [_overview(studies, numbers)]
    for study in studies:
        parts.append(f"## {study.title}\n\n{study.asked.strip()}\n")
        parts.append(f"    make lab EXPERIMENT={study.name}\n")
        if study.name not in numbers:
            parts.append("Not run yet.\n")
            continue
        parts.append(f"![{study.title}](figures/{study.name}.png)\n")
        parts.append(f"{study.table(study, numbers[study.name])}\n")
        parts.append(_claims(study.claims(numbers[study.name])))
        if notes := study.notes(numbers[study.name]).strip():
            parts.append(f"{notes}\n")
    (directory / "README.md").write_text("\n".join(parts))


def _kernel(studies: Iterable[Study], directory: Path) -> str:
    """The kernels that the results are from: one, unless a run was left out."""
    every = (run for study in studies for run in runs(study))
    return " and ".join(sorted({kernel for run in every if (kernel := _kernel_of(run, directory))}))


def _kernel_of(run: Run, directory: Path) -> str | None:
    saved = run.load(directory / "raw")
    return saved["kernel"] if saved else None


def _overview(studies: Iterable[Study], numbers: dict[str, Runs]) -> str:
    lines = ["| question | what is claimed | |", "|---|---|---|"]
    for study in studies:
        if study.name not in numbers:
            continue
        title = f"[{study.title}](#{_anchor(study.title)})"
        for claim in study.claims(numbers[study.name]):
            lines.append(f"| {title} | {claim.claim} | {_verdict(claim)} |")
            title = ""
    return "\n".join(lines) + "\n"


def _anchor(title: str) -> str:
    """As code-hosting sites make it of a heading."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _claims(claims: list[Claim]) -> str:
    lines = [f"- {_verdict(claim)}: {claim.claim}. {claim.evidence}." for claim in claims]
    return "\n".join(lines) + "\n"


def _verdict(claim: Claim) -> str:
    return "holds" if claim.holds else "**does not hold**"
