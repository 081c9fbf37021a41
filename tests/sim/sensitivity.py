"""How much depends on each constant: python -m tests.sim.sensitivity >docs/sensitivity.md

With the names of some constants as arguments, only these are measured.

Each constant of constants.toml is about halved and doubled in a copy of the tree. Loads and bounds
are those of `tests.sim.ablation`.
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

This command made this page. Each constant that decides how the core behaves is about halved and
doubled in a copy of the tree ([constants.toml](../tests/sim/constants.toml) has the values).

{measured}

`HTBS_STREAM_FIRST` plus one shows the differences by chance, which are below these bounds. In 50
random sets, 0.02 is one set. [design.md](design.md#constants) explains the values of the constants.

| constant | value | tried | differences |
|---|---|---|---|"""


@dataclass(frozen=True)
class Trial:
    """A constant with another value."""

    name: str
    value: str

    def find(self, tree: Path) -> tuple[Path, str, str]:
        """Return the file that defines the constant, its value, and the changed text."""
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
        """Give the constant the other value in the tree, and revert it afterwards."""
        path, _, changed = self.find(tree)
        with rewritten(path, changed):
            yield


def constants() -> dict[str, list[str]]:
    """Return all constants, each with its other values."""
    return tomllib.loads((Path(__file__).parent / "constants.toml").read_text())


def head() -> str:
    """Return the text of the page before the rows of its table."""
    return PAGE.format(measured=MEASURED.format(**scope(DISKS)))


def main() -> None:
    """Measure all constants, or those given, and print a row of the table for each value."""
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
