"""Attribute the instructions of a module to functions of its source, inlined ones included.

Most functions on the path of a request are inlined, so a profile by symbol says little about them.
The line table of the compiler (DWARF) says which function each address was inlined from.
"""

import re
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.vm import SetupError

_SECTION = ".text"


def by_function(counts: Mapping[int, float], symbols: Mapping[str, int], module: Path) -> Counter:
    """Sum up counts of addresses by function.

    symbols: addresses of the module's functions in the kernel. module: the file with its line
    table, of the same code that the kernel has loaded.
    """
    base = _base(symbols, module)
    size = int(_find(rf"^\{_SECTION}\s+(\d+)", _tool("size", "-A", module), module))
    inside = {at - base: count for at, count in counts.items() if 0 <= at - base < size}
    found: Counter[str] = Counter()
    for place, function in zip(inside, _functions(inside, module), strict=True):
        found[function] += inside[place]
    return found


def _base(symbols: Mapping[str, int], module: Path) -> int:
    """Return the address of the module's section in the kernel."""
    for line in _tool("nm", "--defined-only", "--format=sysv", module).splitlines():
        name, place, kind, *_, section = (word.strip() for word in (line + "|||").split("|")[:7])
        if section == _SECTION and kind == "T" and name in symbols:
            return symbols[name] - int(place, 16)
    raise SetupError(f"{module.name} has no function of those that ran: build it, and profile anew")


def _functions(places: Mapping[int, float], module: Path) -> list[str]:
    """Return the innermost function at each place of the section."""
    asked = "\n".join(hex(place) for place in places)
    told = _tool("addr2line", "-f", "-j", _SECTION, "-e", module, text=asked).splitlines()
    if not any(re.search(r":\d", line) for line in told[1::2]):
        raise SetupError(f"{module.name} has no line table: build it with the kernel's headers")
    return told[::2]


def _tool(*command: str | Path, text: str = "") -> str:
    try:
        return subprocess.run(
            command, input=text, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise SetupError(f"{command[0]} fails: {error}; it is in the package binutils") from error


def _find(pattern: str, text: str, module: Path) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise SetupError(f"{module.name} has no section {_SECTION}")
    return found[1]
