"""Show that deliberate mistakes are caught: python -m tests.mutants.run [--host] [NN…].

A mistake is a patch here, with a line "Caught-by: TEST" that names a test as pytest does. In a copy
of the tree the tests have to pass; then each patch is applied by itself, and its test has to fail.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COPY = ROOT / "build/mutants"
# What scripts/setup makes is not copied.
SET_UP = ("venv", "headers", "kernels", "linux-source", "debug")

PASSED, FAILED = 0, 1  # pytest's exit codes
# A test that failed, or a guest that says what is wrong in it; not one that took too long.
_CAUGHT = r"\nFAILED |GuestError: .*: (the script failed|(ended; )?kernel report: )"
_LAST_LINES = 15


class MutantError(AssertionError):
    """A mistake is not caught, or cannot be made any more."""


@dataclass(frozen=True)
class Mutant:
    """A patch and the test that must fail with it."""

    path: Path

    @property
    def name(self) -> str:
        """NN-name."""
        return self.path.stem

    @property
    def test(self) -> str:
        """As pytest names it."""
        if found := re.search(r"^Caught-by: (\S+)$", self.path.read_text(), re.MULTILINE):
            return found[1]
        raise MutantError(f"{self.name}: no line 'Caught-by: TEST'")

    @property
    def needs_guest(self) -> bool:
        """Does it take a kernel to see it."""
        return self.test.startswith(("tests/vm/", "tests/faults/"))

    @property
    def kernels(self) -> tuple[str, ...]:
        """What pytest has to be told of the kernel: stock ones it boots without being asked."""
        return ("--kernels=debug",) if self.test.endswith("[debug]") else ()

    def apply(self, tree: Path, *options: str) -> None:
        """Make the mistake in a tree, or (--reverse) mend it, or (--dry-run) only try."""
        done = subprocess.run(
            ["patch", "-p1", "-s", "-F0", *options, "-i", self.path],
            cwd=tree, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise MutantError(
                f"{self.name} no longer applies: make the mistake anew in the code as it is\n"
                f"{done.stdout}"
            )


def mutants() -> list[Mutant]:
    """All of them, in order."""
    return [Mutant(path) for path in sorted(HERE.glob("*.patch"))]


def copy_tree() -> Path:
    """Bring the copy up to date; what did not change keeps its time, and is not built again."""
    listed = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = {name for name in names.split("\0") if name and (ROOT / name).is_file()}
    COPY.mkdir(parents=True, exist_ok=True)
    for path in COPY.rglob("*"):
        name = str(path.relative_to(COPY))
        if path.is_file() and name not in files and not name.startswith("build/"):
            path.unlink()
    for name in files:
        source, target = ROOT / name, COPY / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    (COPY / "build").mkdir(exist_ok=True)
    for name in SET_UP:
        link = COPY / "build" / name
        if not link.is_symlink():
            link.symlink_to(ROOT / "build" / name)
    return COPY


def run_tests(tree: Path, some: Iterable[Mutant], *options: str) -> subprocess.CompletedProcess:
    """Run the tests of some mutants, all on the same kernels, in a tree."""
    python = ROOT / "build/venv/bin/python"
    tests = sorted({word for mutant in some for word in (mutant.test, *mutant.kernels)})
    command = [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options, *tests]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


def by_kernels(some: Iterable[Mutant]) -> list[list[Mutant]]:
    """Those that one run of pytest can test, together."""
    ordered = sorted(some, key=lambda mutant: mutant.kernels)
    return [list(group) for _, group in groupby(ordered, key=lambda mutant: mutant.kernels)]


def check_sound(tree: Path, some: Iterable[Mutant]) -> None:
    """Without a mistake the tests pass."""
    for group in by_kernels(some):
        done = run_tests(tree, group)
        if done.returncode != PASSED:
            raise MutantError(f"without a mistake:\n{_last(done.stdout)}")


def check_caught(tree: Path, mutant: Mutant) -> None:
    """With the mistake the test fails: not for want of a build, nor of a test."""
    mutant.apply(tree)
    try:
        done = run_tests(tree, [mutant])
    finally:
        mutant.apply(tree, "--reverse")
    if done.returncode == PASSED:
        raise MutantError(f"{mutant.name} is not caught by {mutant.test}")
    if done.returncode != FAILED or not re.search(_CAUGHT, done.stdout):
        raise MutantError(f"{mutant.name}: {mutant.test} could not be run:\n{_last(done.stdout)}")


def _last(text: str) -> str:
    return "\n".join(text.splitlines()[-_LAST_LINES:])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description=__doc__)
    parser.add_argument("--host", action="store_true", help="only those that need no guest")
    parser.add_argument("number", nargs="*", help="of the patch; by default all")
    return parser.parse_args()


def chosen(numbers: list[str]) -> list[Mutant]:
    """Those with these numbers, or all without any; MutantError if there is none of a number."""
    every = mutants()
    of = {int(mutant.name.split("-")[0]): mutant for mutant in every}
    for number in numbers:
        if not number.isdecimal() or int(number) not in of:
            raise MutantError(f"no mistake {number!r}; they go from {min(of)} to {max(of)}")
    return [of[int(number)] for number in numbers] or every


def main() -> int:
    """Make each mistake and say who caught it."""
    arguments = _arguments()
    some = [
        mutant for mutant in chosen(arguments.number) if not (arguments.host and mutant.needs_guest)
    ]
    if not some:
        raise MutantError("these need a guest: leave out --host")
    tree = copy_tree()
    check_sound(tree, some)
    missed = 0
    for number, mutant in enumerate(some, start=1):
        try:
            check_caught(tree, mutant)
            print(f"{number}/{len(some)} {mutant.name}: caught by {mutant.test}", flush=True)
        except MutantError as error:
            missed += 1
            print(f"{number}/{len(some)} NOT CAUGHT: {error}", flush=True)
    print(f"{len(some) - missed} of {len(some)} mistakes are caught")
    return min(missed, 1)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MutantError as error:
        sys.exit(f"mutants: {error}")
