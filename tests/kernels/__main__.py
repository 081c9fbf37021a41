"""Build for each kernel, boot it, and write the table in docs/testing.md."""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.kernels.cells import cells, failed
from tests.kernels.table import Line, update_file
from tests.vm.kernels import BUILD, REPO, Kernel, available, select

_DOCUMENT = REPO / "docs/testing.md"
_DIRECTORY = BUILD / "kernel-tests"


def main() -> int:
    """Return 1 if a kernel has a failed test."""
    chosen = _chosen()
    bad = 0
    begin = time.monotonic()
    for number, kernel in enumerate(chosen):
        left = _left(begin, number, len(chosen))
        print(f"== {kernel.version} ({number + 1} of {len(chosen)}{left})", flush=True)
        line = _line(kernel)
        bad += "failed" in str(line)
        update_file(_DOCUMENT, [line])
        print(line, end="", flush=True)
    return min(bad, 1)


def _chosen() -> list[Kernel]:
    parser = argparse.ArgumentParser(prog="make test-kernels", description=__doc__)
    parser.add_argument(
        "kernels",
        nargs="*",
        metavar="KERNEL",
        help="series, as 7.3 or 7.3-rt-amd64, or whole releases; all that are unpacked",
    )
    wanted = parser.parse_args().kernels
    return [select(name) for name in wanted] or available()


def _left(begin: float, done: int, of: int) -> str:
    if not done:
        return ""
    seconds = (time.monotonic() - begin) / done * (of - done)
    return f", {seconds / 60:.0f} minutes left"


def _line(kernel: Kernel) -> Line:
    whole = {"functional": "-", "conformance": "-", "faults": "-"}
    built = _build(kernel)
    if built != "failed":
        whole = _test(kernel)
    return Line(
        kernel.distribution, kernel.flavour, f"`{kernel.version}`", built, *whole.values()
    )


def _build(kernel: Kernel) -> str:
    """Build all three modules; a warning counts as a failure."""
    command = ["make", "-j2", f"KVER={kernel.version}", "W=1", "C=2"]
    log = ""
    for directory in ("", "simdisk", "paper"):
        shutil.rmtree(BUILD / directory / kernel.version, ignore_errors=True)
    for target in ("all", "simdisk", "paper"):
        done = subprocess.run(
            [*command, target], cwd=REPO, capture_output=True, text=True, check=False
        )
        log += done.stdout + done.stderr
        if done.returncode or "warning:" in log:
            print(log)
            return "failed"
    return "no warning, W=1" + (", sparse" if "CHECK" in log else "")


def _test(kernel: Kernel) -> dict[str, str]:
    _DIRECTORY.mkdir(parents=True, exist_ok=True)
    report = _DIRECTORY / f"{kernel.version}.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += [f"--kernels={kernel.version}", f"--junitxml={report}", "tests/vm", "tests/faults"]
    with (_DIRECTORY / f"{kernel.version}.log").open("w") as log:
        subprocess.run(command, cwd=REPO, stdout=log, stderr=subprocess.STDOUT, check=False)
    if not report.exists():
        print(Path(log.name).read_text())
        return dict.fromkeys(("functional", "conformance", "faults"), "failed")
    for name in failed(report):
        print(f"failed: {name}; see {Path(log.name).relative_to(REPO)}")
    return cells(report)


if __name__ == "__main__":
    sys.exit(main())
