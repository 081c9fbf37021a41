"""Build the fuzz targets (libFuzzer, ASan, UBSan) and run them: python -m tests.fuzz.fuzz.

A target is C code that takes the fuzzer's bytes as a script and checks the state after each step.
`corpus/TARGET/` has inputs for code that random bytes seldom reach; `--keep` replaces it by the
smallest inputs with the same coverage.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.unit.host import CORE, ROOT, TOOLS

HERE = Path(__file__).parent
BUILD = ROOT / "build/fuzz"
CORPUS = HERE / "corpus"
TARGETS = {
    "admission": ("admission.c",),
    "policy": ("policy.c", "structure.c", "choice.c"),
}
KEPT = 40  # inputs of a corpus
LONGEST = 1024  # bytes of an input

FLAGS = (
    "-std=gnu11", "-fgnu89-inline", "-O1", "-g", "-Wall", "-Wextra", "-Wno-unused-parameter",
    "-Werror", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all",
)  # fmt: skip


class FuzzError(AssertionError):
    """A target failed; the text names the input and how to repeat it."""


@dataclass(frozen=True)
class Target:
    """A fuzz target: its name and its binary."""

    name: str
    binary: Path

    @property
    def corpus(self) -> Path:
        """The directory of its inputs in the tree."""
        return CORPUS / self.name

    def fuzz(self, seed: int, limit: str, found: Path | None = None) -> str:
        """Run the target, starting with its corpus; return libFuzzer's output. Raises FuzzError.

        limit: -runs=N or -max_total_time=SECONDS; found: a directory with more inputs, to which
        inputs with new coverage are added.
        """
        failures = BUILD / "failures"
        failures.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{self.name}-", dir=BUILD) as unused:
            return self._run(
                f"-seed={seed}", limit, f"-max_len={LONGEST}", "-timeout=10",
                f"-artifact_prefix={failures}/{self.name}-", found or unused, self.corpus,
            )  # fmt: skip

    def keep(self, found: Path) -> None:
        """Replace the corpus by the smallest inputs with the same coverage."""
        with tempfile.TemporaryDirectory(prefix=f"{self.name}-", dir=BUILD) as merged:
            self._run("-merge=1", merged, found, self.corpus)
            inputs = sorted(Path(merged).iterdir(), key=lambda path: path.stat().st_size)
            shutil.rmtree(self.corpus)
            self.corpus.mkdir()
            for number, path in enumerate(_spread(inputs, KEPT)):
                shutil.copy(path, self.corpus / f"{number:02}")

    def _run(self, *arguments: str | Path) -> str:
        done = subprocess.run(
            [self.binary, *arguments], capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode:
            raise FuzzError(self._report(done.stderr))
        return done.stderr

    def _report(self, text: str) -> str:
        """Return what went wrong and how to repeat it."""
        binary = self.binary.relative_to(ROOT)
        lines = text.splitlines()
        said = [line for line in lines if re.search("must be|ERROR:|runtime error:", line)]
        found = [line.split()[-1] for line in lines if "Test unit written to" in line]
        again = [f"    {binary} {Path(path).relative_to(ROOT)}" for path in found]
        return "\n".join([
            f"fuzz target {self.name}:", *(said or lines[-20:]), "to see it again:", *again,
            f"and once it is mended, keep the input in {self.corpus.relative_to(ROOT)}/",
        ])  # fmt: skip


def build(name: str) -> Target:
    """Compile a target with the core library."""
    if shutil.which("clang") is None:
        raise FileNotFoundError("no clang: run scripts/setup")
    BUILD.mkdir(parents=True, exist_ok=True)
    includes = (ROOT / "tests/unit/include", TOOLS / "include", ROOT / "include")
    sources = [*CORE, *(HERE / source for source in TARGETS[name]), TOOLS / "lib/rbtree.c"]
    binary = BUILD / name
    subprocess.run(
        ["clang", *FLAGS, *(f"-I{path}" for path in includes), *sources, "-o", binary], check=True
    )
    return Target(name, binary)


def _spread(inputs: list[Path], most: int) -> list[Path]:
    """Return at most `most` of the inputs, of all sizes."""
    if len(inputs) <= most:
        return inputs
    return [inputs[i * len(inputs) // most] for i in range(most)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1, help="for each target")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3)))
    parser.add_argument("--target", choices=TARGETS, action="append", help="by default all")
    parser.add_argument("--keep", action="store_true", help="what was found, in the corpus")
    return parser.parse_args()


def main() -> int:
    """Fuzz each target for some minutes, starting with the inputs that were found before."""
    arguments = _arguments()
    for name in arguments.target or TARGETS:
        found = BUILD / "found" / name
        found.mkdir(parents=True, exist_ok=True)
        target = build(name)
        print(f"{name}: {arguments.minutes:g} min, seed {arguments.seed}", flush=True)
        limit = f"-max_total_time={max(1, round(60 * arguments.minutes))}"
        print(f"    {target.fuzz(arguments.seed, limit, found).splitlines()[-1]}", flush=True)
        if arguments.keep:
            target.keep(found)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (FuzzError, FileNotFoundError) as error:
        sys.exit(f"fuzz: {error}")
