"""Print io.htbs and io.htbs.stat of all cgroups as a line of JSON; runs in the guest.

{GROUP: {DISK: {key: number}}}: the counters, and the keys of the group's own reservation. It reads
the kernel's files without htbsctl.
"""

import json
from pathlib import Path

_TOP = Path("/sys/fs/cgroup")


def _lines(file: Path) -> dict[str, dict[str, int]]:
    """Return the keys of each disk in a file; for io.htbs, only those of the group itself."""
    try:
        text = file.read_text()
    except OSError:
        return {}
    found = {}
    for number, *words in map(str.split, text.splitlines()):
        if words and words[-1] not in ("inherited", "default"):
            name = Path(f"/sys/dev/block/{number}").resolve().name
            pairs = (word.split("=") for word in words)
            found[name] = {key: int(value) for key, value in pairs if value != "max"}
    return found


def _main() -> None:
    groups = {}
    for file in sorted(_TOP.rglob("io.htbs")):
        group = f"/{file.parent.relative_to(_TOP)}".replace("/.", "/")
        own, stat = _lines(file), _lines(file.with_name("io.htbs.stat"))
        if own or stat:
            both = {disk: stat.get(disk, {}) | own.get(disk, {}) for disk in {*own, *stat}}
            groups[group] = both
    print(json.dumps(groups))


_main()
