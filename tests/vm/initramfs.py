"""The initramfs of a guest on the virtual clock. The same content gives the same bytes."""

import hashlib
import lzma
import os
import stat
import tempfile
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

from tests.vm import machine, stubs
from tests.vm.kernels import BUILD, Kernel, SetupError
from tests.vm.machine import Machine

# A file of the guest: its content, the host's file to copy, or the target of a symbolic link.
Content = bytes | Path | str
Tree = dict[str, Content]

# Applets of busybox that do the same as the host's programs and start faster.
_OFTEN = (
    *("cat", "cp", "cut", "dd", "find", "grep", "head", "ls", "mkdir", "rm", "rmdir", "sed"),
    *("seq", "sh", "sha256sum", "sleep", "touch", "tr", "wc"),
)
# Modules that some kernels do not have: newer ones need none for checksums, and those of arm64 have
# no simulated SCSI disk.
_ELSEWHERE = {"crc32c_generic", "scsi_debug"}
# init writes the result to a virtio disk.
_RESULT_MODULES = ("virtio_mmio", "virtio_blk")
# The driver of the script's output, on a machine with one serial port.
_CONSOLE_MODULES = {"arm64": ("virtio_console",)}


def archive(tree: Tree) -> bytes:
    """Return a cpio archive ("newc") of the tree with its directories, sorted, without dates."""
    directories = {str(parent) for name in tree for parent in Path(name).parents} - {"."}
    entries = dict.fromkeys(directories, (stat.S_IFDIR | 0o755, b""))
    for name, content in tree.items():
        if isinstance(content, str):
            entries[name] = (stat.S_IFLNK | 0o777, content.encode())
        elif isinstance(content, Path):
            mode = 0o755 if os.access(content, os.X_OK) else 0o644
            entries[name] = (stat.S_IFREG | mode, content.read_bytes())
        else:
            entries[name] = (stat.S_IFREG | 0o755, content)
    chunks: list[bytes] = []
    for number, (name, (mode, data)) in enumerate(sorted(entries.items()), start=1):
        chunks += _entry(number, name, mode, data)
    chunks += _entry(0, "TRAILER!!!", 0, b"")
    return b"".join(chunks)


def _entry(number: int, name: str, mode: int, data: bytes) -> list[bytes]:
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return [header, bytes(-len(header) % 4), data, bytes(-len(data) % 4)]


@lru_cache(maxsize=2)
def base(
    kernel: Kernel,
    modules: tuple[str, ...],
    programs: tuple[str, ...],
    quick: tuple[str, ...] = (),
    shared: tuple[Path, ...] = (),
) -> bytes:
    """The part that guests share: busybox, programs with their libraries, stock modules.

    shared: files and directories of the host that the guest finds at the same place; quick:
    programs for a guest that has those of the host, but uses these, and some applets of busybox,
    from its memory, in /run/bin.
    """
    tree: Tree = {"init": Path(__file__).parent / "init"}
    guest = machine.of(kernel)
    tree |= _busybox(guest) | _modules(
        kernel, (*modules, *_RESULT_MODULES, *_CONSOLE_MODULES.get(guest.name, ()))
    )
    for program in programs:
        tree |= _program(program, guest)
    for path in shared:
        tree |= _shared(path)
    for program in quick:
        tree |= _quick(program)
    if quick:
        tree |= {"run/bin/busybox": machine.AMD64.program("busybox")}
        tree |= {f"run/bin/{applet}": "busybox" for applet in _OFTEN}
    return archive(tree)


def put(kernel: Kernel) -> Path:
    """Build put.c, the static helper of both kinds of guest."""
    return static_program("put", kernel, Path(__file__).parent / "put.c")


@cache
def static_program(name: str, kernel: Kernel, *sources: Path) -> Path:
    """Build a program that runs in both kinds of guest.

    Its directory is named after a hash of the sources. Their times would not do: if a tree was
    copied with its build/, its sources look old.
    """
    headers = sorted({header for source in sources for header in source.parent.glob("*.h")})
    guest = machine.of(kernel)
    content = b"".join(path.read_bytes() for path in [*sources, *headers]) + guest.name.encode()
    binary = BUILD / "guest" / hashlib.sha256(content).hexdigest()[:16] / name
    if not binary.exists():
        binary.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=binary.parent) as directory:
            # Two sessions may do this at once, so the file has to appear complete.
            built = Path(directory, name)
            flags = ("-static", "-O2", "-Wall", "-Werror")
            machine.output(guest.tool("gcc"), *flags, "-o", built, *sources)
            built.replace(binary)
    return binary


def _busybox(guest: Machine) -> Tree:
    binary = guest.program("busybox")
    # The applets of one release of Debian are the same for all machines.
    applets = machine.output(machine.AMD64.program("busybox"), "--list").split()
    return {f"bin/{applet}": "busybox" for applet in applets} | {
        "bin/busybox": binary,
        "sbin": "bin",
    }


def _program(name: str, guest: Machine) -> Tree:
    """Return a program and its libraries, at the places where the loader finds them.

    name: of the program, or its path if it is not in a directory of programs; the guest has it at
    that path.
    """
    binary = guest.program(name)
    libraries = stubs.libraries(binary, guest).items()
    place = name.lstrip("/") if "/" in name else f"bin/{name}"
    return {place: binary} | {str(path).lstrip("/"): own for path, own in libraries}


def _shared(path: Path) -> Tree:
    """Return a file of the host, or all files below a directory."""
    files = (each for each in path.rglob("*") if each.is_file()) if path.is_dir() else (path,)
    return {str(each).lstrip("/"): each for each in files}


def _quick(name: str) -> Tree:
    """Return a program of the host with a copy of its libraries beside it."""
    binary = machine.AMD64.program(name)
    start = f'#!/run/bin/sh\nLD_LIBRARY_PATH=/run/lib exec /run/lib/{name} "$@"\n'
    tree: Tree = {f"run/bin/{name}": start.encode(), f"run/lib/{name}": binary}
    return tree | {f"run/lib/{path.name}": own for path, own in stubs.libraries(binary).items()}


def _modules(kernel: Kernel, names: Iterable[str]) -> Tree:
    """Return stock modules and their dependencies, with their part of modules.dep."""
    root = kernel.modules
    built_in = {_module_name(line) for line in (root / "modules.builtin").read_text().split()}
    lines = [line.split(":") for line in (root / "modules.dep").read_text().splitlines()]
    dependencies = {path: needs.split() for path, needs in lines}
    by_name = {_module_name(path): path for path in dependencies}
    wanted = {name.replace("-", "_") for name in names} - built_in
    if missing := wanted - by_name.keys() - _ELSEWHERE:
        raise SetupError(f"{kernel.version} has no module {', '.join(sorted(missing))}")

    found = {by_name[name] for name in wanted & by_name.keys()}
    paths = found.union(*(dependencies[path] for path in found))
    names = {_module_name(path) for path in paths}
    guest = f"lib/modules/{kernel.version}"
    tree: Tree = {f"{guest}/{path.removesuffix('.xz')}": _module(root / path) for path in paths}
    dep = [f"{path}: {' '.join(dependencies[path])}\n" for path in sorted(paths)]
    alias = [
        line + "\n"
        for line in (root / "modules.alias").read_text().splitlines()
        if line.split()[-1] in names
    ]
    tree[f"{guest}/modules.builtin"] = root / "modules.builtin"
    tree[f"{guest}/modules.dep"] = "".join(dep).replace(".ko.xz", ".ko").encode()
    tree[f"{guest}/modules.alias"] = "".join(alias).encode()
    return tree


def _module_name(path: str) -> str:
    return Path(path).name.split(".")[0].replace("-", "_")


def _module(path: Path) -> Content:
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path
