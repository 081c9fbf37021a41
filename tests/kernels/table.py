"""The table of kernels in docs/testing.md, with a line for each, written after its tests."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

BEGIN = "<!-- written by make test-kernels -->\n"
END = "<!-- end -->\n"
_HEAD = (
    "| kernel | flavour | release | build | functional | conformance | fault rows |\n"
    "|---|---|---|---|---|---|---|\n"
)


@dataclass(frozen=True)
class Line:
    """A kernel: its distribution, flavour and release, and a word for each column."""

    distribution: str
    flavour: str
    release: str
    build: str
    functional: str
    conformance: str
    faults: str

    @property
    def key(self) -> tuple[str, str]:
        """What the next release of the same kernel has in common with it."""
        return self.distribution, self.flavour

    def __str__(self) -> str:
        cells = [getattr(self, field.name) for field in fields(self)]
        return f"| {' | '.join(cells)} |\n"


def read(text: str) -> list[Line]:
    """Return the lines of a document."""
    _, table, _ = _parts(text)
    rows = [row.strip("| \n").split(" | ") for row in table.splitlines(keepends=True)[2:]]
    return [Line(*row) for row in rows]


def update(text: str, new: Iterable[Line]) -> str:
    """Return the document with new lines for these kernels, in order of age."""
    before, _, after = _parts(text)
    lines = {line.key: line for line in [*read(text), *new]}
    ordered = sorted(lines.values(), key=lambda line: (_age(line), line.flavour))
    return before + BEGIN + _HEAD + "".join(map(str, ordered)) + END + after


def update_file(path: Path, new: Iterable[Line]) -> None:
    """Do the same in a file."""
    path.write_text(update(path.read_text(), new))


def _parts(text: str) -> tuple[str, str, str]:
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    return before, table, after


def _age(line: Line) -> tuple[object, ...]:
    """Return a key: the series, then the distribution."""
    series = re.search(r"(\d+)\.(\d+)", line.release)
    return (*map(int, series.groups()), line.distribution)
