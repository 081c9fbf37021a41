"""Empty libraries in place of those that a program is linked with but a guest cannot use.

Debian's fio is linked with libraries for clusters and networks, and these with others, 60 libraries
in all: 90 MB. At each start it takes a tenth of a second of virtual time to relocate them.
"""

import re
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path

from tests.vm.kernels import BUILD
from tests.vm.machine import AMD64, Machine, output

# Libraries that no guest needs, by the names with which the program is linked.
USELESS = {
    "fio": (
        "libgfapi.so.0",
        "libibverbs.so.1",
        "libnbd.so.0",
        "libpmem.so.1",
        "libpmemblk.so.1",
        "librados.so.2",
        "librbd.so.1",
        "librdmacm.so.1",
    )
}


def libraries(binary: Path, machine: Machine = AMD64) -> dict[Path, Path]:
    """Return the libraries of a program that the guest gets, by their paths in the guest."""
    useless = USELESS.get(binary.name, ())
    direct = machine.needed(binary)
    found = {}
    for path in machine.linked(binary):
        if path.name in useless:
            found[machine.place(path)] = _stub(binary, path, machine)
        elif path.name in direct or path.name.startswith("ld-linux"):
            found |= {machine.place(each): each for each in (path, *machine.linked(path))}
    return found


@cache
def _stub(binary: Path, library: Path, machine: Machine) -> Path:
    """Build a library that defines the symbols that the program needs, as functions that abort."""
    stub = BUILD / "guest" / "stubs" / machine.name / library.name
    if stub.exists() and stub.stat().st_mtime > binary.stat().st_mtime:
        return stub
    stub.parent.mkdir(parents=True, exist_ok=True)
    symbols = _symbols(binary, library, machine.tool("nm"))
    flags = ["-shared", "-nostdlib", "-w", "-fno-builtin", f"-Wl,-soname={library.name}"]
    # Two sessions may do this at once, so the file has to appear complete.
    with tempfile.TemporaryDirectory(dir=stub.parent) as directory:
        source, script, built = (Path(directory, each) for each in ("stub.c", "stub.map", "stub"))
        names = [name for names in symbols.values() for name in names]
        source.write_text("".join(f"void {name}(void) {{ __builtin_trap(); }}\n" for name in names))
        if any(symbols):
            script.write_text("".join(_version(*each) for each in symbols.items()))
            flags.append(f"-Wl,--version-script={script}")
        output(machine.tool("gcc"), *flags, "-o", built, source)
        built.replace(stub)
    return stub


def _version(version: str, names: list[str]) -> str:
    return f"{version} {{ global: {' '.join(f'{name};' for name in names)} }};\n"


def _symbols(binary: Path, library: Path, nm: str) -> dict[str, list[str]]:
    """Return the symbols that the program needs from the library, by version; "" means none."""
    defined = set(re.findall(r" [TWVi] ([^@\s]+)", output(nm, "-D", library)))
    found = defaultdict(list)
    for name, version in _wanted(binary, nm):
        if name in defined:
            found[version].append(name)
    return found


@cache
def _wanted(binary: Path, nm: str) -> list[tuple[str, str]]:
    listing = output(nm, "-D", "--undefined-only", "--with-symbol-versions", binary)
    return re.findall(r"U ([^@\s]+)@?(\S*)", listing)
