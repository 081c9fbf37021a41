"""How much depends on each constant: python -m tests.sim.sensitivity >docs/sensitivity.md

The names of some constants as arguments: only these.

Each constant of constants.toml is halved and doubled, or near to that, in a copy of the tree. The
loads are those of `tests.sim.ablation`, and what differs is told by the same bounds.
"""

import argparse
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.run import ROOT, SOURCES, MutantError, rewritten
from tests.sim.ablation import MEASURED, compare, scope

DISKS = 10
PAGE = """\
# How much depends on each constant

    python -m tests.sim.sensitivity >docs/sensitivity.md

made this page. Each constant that decides how the core behaves is about halved and doubled in a
copy of the tree ([constants.toml](../tests/sim/constants.toml) has the values).

{measured}

With one more for `HTBS_STREAM_FIRST` all differs by chance, and by less than these bounds. Of the
random sets 0.02 is one set. Why a constant has its value is in [design.md](design.md#constants).

| constant | is | tried | differs |
|---|---|---|---|"""


@dataclass(frozen=True)
class Trial:
    """A constant with another value."""

    name: str
    value: str

    def find(self, tree: Path) -> tuple[Path, str, str]:
        """The file that defines the constant, its value, and the text with the other one."""
        line = rf"^(#define {self.name}[ \t]+)(\S.*?)([ \t]*(?:/\*.*)?)$"
        define = re.compile(line, re.MULTILINE)
        files = [path for name in SOURCES for path in sorted((tree / name).rglob("*.[ch]"))]
        found = [(path, define.search(path.read_text())) for path in files]
        defined = [(path, match) for path, match in found if match]
        if len(defined) != 1:
            raise MutantError(f"{self.name} is defined {len(defined)} times, not once")
        [(path, match)] = defined
        text = define.sub(rf"\g<1>({self.value})\g<3>", path.read_text())
        return path, match[2], text

    @contextmanager
    def made(self, tree: Path) -> Iterator[None]:
        """The tree with the other value, which is mended afterwards."""
        path, _, changed = self.find(tree)
        with rewritten(path, changed):
            yield


def constants() -> dict[str, list[str]]:
    """All of them, each with its other values."""
    return tomllib.loads((Path(__file__).parent / "constants.toml").read_text())


def head() -> str:
    """What the page says before the rows of its table."""
    return PAGE.format(measured=MEASURED.format(**scope(DISKS)))


def main() -> None:
    """Measure all, and print a row of a table for each value."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a constant; all by default")
    args = parser.parse_args()
    known = constants()
    if unknown := set(args.names) - set(known):
        parser.error(f"no constant {', '.join(sorted(unknown))} in tests/sim/constants.toml")
    trials = [Trial(name, value) for name in args.names or known for value in known[name]]
    print(head())
    for trial, found in zip(trials, compare(trials, DISKS), strict=True):
        _, value, _ = trial.find(ROOT)
        print(f"| `{trial.name}` | {value} | {trial.value} | {'; '.join(found) or '-'} |",
              flush=True)


if __name__ == "__main__":
    main()
