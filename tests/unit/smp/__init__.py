"""Multithreaded programs that share a part of the module."""

import json
import subprocess
from pathlib import Path

from tests.unit.host import ROOT, TOOLS

_HERE = Path(__file__).parent


def outcome(name: str, directory: Path, *arguments: int) -> dict[str, int]:
    """Build a program in a directory, run it, and return its output."""
    program = directory / name
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-pthread", "-Wall", "-Wextra", "-Werror",
                    f"-I{_HERE}", f"-I{ROOT}/include", f"-I{TOOLS}/include",
                    "-o", program, _HERE / f"{name}.c"], check=True)
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          check=True, timeout=120)
    return json.loads(done.stdout)
