"""Show that tests catch deliberate mistakes: python -m tests.mutants.run [--host] [NAME…].

mutants.toml has the mistakes, each with the test that has to fail. Each CPU has a copy of the tree,
in which the tests have to pass. Then each mistake is made by itself, and its test has to fail.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COPIES = ROOT / "build/mutants"
# Directories with code in which mistakes are made.
SOURCES = ("htbs", "include", "sysfs")
# The files that scripts/setup creates are not copied.
SET_UP = ("venv", "headers", "kernels", "debian13", "linux-source", "debug")

PASSED, FAILED = 0, 1  # pytest's exit codes
# A failed test, or a guest that reports what is wrong in it. A guest that took too long does not
# count, unless the mistake hangs it.
_CAUGHT = r"\nFAILED |GuestError: .*: (the script failed|(ended; )?kernel report: )"
_HUNG = r"GuestError: .*: ended by the time limit"
_LAST_LINES = 15


class MutantError(AssertionError):
    """A mistake is not caught, or can no longer be made."""


@dataclass(frozen=True)
class Mutant:
    """A mistake: in the body of a function, old is replaced by new; then test fails.

    hangs: the guest's CPU may loop with interrupts off, where no watchdog of the kernel notices it.
    """

    name: str
    what: str
    test: str
    function: str
    old: str
    new: str
    hangs: bool = False

    @property
    def symptom(self) -> str:
        """A regular expression for pytest's output if the mistake is caught."""
        return f"{_CAUGHT}|{_HUNG}" if self.hangs else _CAUGHT

    @property
    def needs_guest(self) -> bool:
        """Return true if the test needs a guest."""
        return self.test.startswith(("tests/vm/", "tests/faults/"))

    @property
    def kernels(self) -> tuple[str, ...]:
        """Options of pytest to choose a kernel; a stock kernel needs none."""
        return ("--kernels=debug",) if self.test.endswith("[debug]") else ()

    def find(self, tree: Path) -> tuple[Path, str]:
        """Return the file with the function, and the file's text with the mistake."""
        files = [path for name in SOURCES for path in sorted((tree / name).rglob("*.[ch]"))]
        texts = {path: path.read_text() for path in files}
        bodies = [(path, *body(text, self.function)) for path, text in texts.items()
                  if body(text, self.function)]
        if len(bodies) != 1:
            raise MutantError(f"{self.name}: {self.function}() is defined {len(bodies)} times")
        [(path, begin, end)] = bodies
        text = texts[path]
        words = r"\s+".join(map(re.escape, self.old.split()))
        mistaken, times = re.subn(words, lambda _: self.new, text[begin:end])
        if times != 1:
            raise MutantError(
                f"{self.name}: {self.function}() has this {times} times, not once:\n{self.old}\n"
                "write the mistake anew for the code as it is"
            )
        return path, text[:begin] + mistaken + text[end:]

    @contextmanager
    def made(self, tree: Path) -> Iterator[None]:
        """Make the mistake in the tree, and revert it afterwards."""
        with rewritten(*self.find(tree)):
            yield


@contextmanager
def rewritten(path: Path, changed: str) -> Iterator[None]:
    """Replace the text of a file, and restore it afterwards."""
    text = path.read_text()
    path.write_text(changed)
    try:
        yield
    finally:
        path.write_text(text)


def body(text: str, function: str) -> tuple[int, int] | None:
    """Return begin and end of a function's body, in kernel style, or None if it is not defined."""
    head = rf"^(?!#|\s|/?\*)[^;{{}}]*?\b{function}\)?\([^;{{}}]*\)\n{{\n"
    found = re.search(head, text, re.MULTILINE)
    if not found:
        return None
    return found.end(), text.index("\n}", found.end() - 1) + 1


@cache
def mutants() -> list[Mutant]:
    """Return all mutants, in order."""
    entries = tomllib.loads((HERE / "mutants.toml").read_text())
    return [Mutant(name, **entry) for name, entry in entries.items()]


def copy_tree(name: int | str = 0) -> Path:
    """Update a copy of the tree. Unchanged files keep their time, so they are not built again."""
    copy = COPIES / str(name)
    listed = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = {name for name in names.split("\0") if name and (ROOT / name).is_file()}
    copy.mkdir(parents=True, exist_ok=True)
    for path in copy.rglob("*"):
        name = str(path.relative_to(copy))
        if path.is_file() and name not in files and not name.startswith("build/"):
            path.unlink()
    for name in files:
        source, target = ROOT / name, copy / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    (copy / "build").mkdir(exist_ok=True)
    for name in SET_UP:
        link = copy / "build" / name
        if not link.is_symlink():
            link.symlink_to(ROOT / "build" / name)
    return copy


def run_tests(tree: Path, some: Iterable[Mutant], *options: str) -> subprocess.CompletedProcess:
    """Run the tests of some mutants in a tree; all of them need the same kernels."""
    python = ROOT / "build/venv/bin/python"
    tests = sorted({word for mutant in some for word in (mutant.test, *mutant.kernels)})
    command = [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options, *tests]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


def by_kernels(some: Iterable[Mutant]) -> list[list[Mutant]]:
    """Group the mutants by what one run of pytest can test."""
    ordered = sorted(some, key=lambda mutant: mutant.kernels)
    return [list(group) for _, group in groupby(ordered, key=lambda mutant: mutant.kernels)]


def check_sound(tree: Path, some: Iterable[Mutant]) -> None:
    """Check that the tests pass without a mistake."""
    for group in by_kernels(some):
        done = run_tests(tree, group)
        if done.returncode != PASSED:
            raise MutantError(f"without a mistake:\n{_last(done.stdout)}")


def check_caught(tree: Path, mutant: Mutant) -> None:
    """Check that the test fails with the mistake, and for no other reason, such as the build."""
    with mutant.made(tree):
        done = run_tests(tree, [mutant])
    if done.returncode == PASSED:
        raise MutantError(f"{mutant.name} is not caught by {mutant.test}")
    if done.returncode != FAILED or not re.search(mutant.symptom, done.stdout):
        raise MutantError(f"{mutant.name}: {mutant.test} could not be run:\n{_last(done.stdout)}")


def _last(text: str) -> str:
    return "\n".join(text.splitlines()[-_LAST_LINES:])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description=__doc__)
    parser.add_argument("--host", action="store_true", help="only those that need no guest")
    parser.add_argument("name", nargs="*", help="of a mistake; by default all")
    return parser.parse_args()


def chosen(names: list[str]) -> list[Mutant]:
    """Return the mutants of these names, or all. Raises MutantError for an unknown name."""
    of = {mutant.name: mutant for mutant in mutants()}
    for name in names:
        if name not in of:
            raise MutantError(f"no mistake {name!r}; their names are in {HERE.name}/mutants.toml")
    return [of[name] for name in names] or mutants()


class Report:
    """Prints which test caught which mistake, and how many mistakes are left."""

    def __init__(self, total: int):
        self._total, self._done, self.missed = total, 0, 0

    def judge(self, tree: Path, mutant: Mutant) -> None:
        """Make a mistake in a tree."""
        try:
            check_caught(tree, mutant)
            verdict = f"{mutant.name}: caught by {mutant.test}"
        except MutantError as error:
            self.missed += 1
            verdict = f"NOT CAUGHT: {error}"
        self._done += 1
        print(f"{self._done}/{self._total} {verdict}", flush=True)

    def judge_all(self, number: int, some: list[Mutant]) -> None:
        """Make some mistakes in a copy of the tree, one after the other."""
        tree = copy_tree(number)
        check_sound(tree, some)
        for mutant in some:
            self.judge(tree, mutant)


def main() -> int:
    """Make each mistake and print which test caught it."""
    arguments = _arguments()
    some = [
        mutant for mutant in chosen(arguments.name) if not (arguments.host and mutant.needs_guest)
    ]
    if not some:
        raise MutantError("these need a guest: leave out --host")
    # Mutants that need a guest take longest, so they are spread over the copies.
    some.sort(key=lambda mutant: mutant.needs_guest)
    copies = min(len(os.sched_getaffinity(0)), len(some))
    report = Report(len(some))
    print(f"first the tests without a mistake, in {copies} copies of the tree", flush=True)
    with ThreadPoolExecutor(copies) as pool:
        parts = [some[number::copies] for number in range(copies)]
        for _ in pool.map(report.judge_all, range(copies), parts):
            pass
    print(f"{len(some) - report.missed} of {len(some)} mistakes are caught")
    return min(report.missed, 1)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MutantError as error:
        sys.exit(f"mutants: {error}")
