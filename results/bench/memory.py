"""Bytes per cgroup and disk that a scheduler's module allocates, from /proc/slabinfo.

This is the growth of each slab cache from a kernel without the module to one with state for all
cgroups, divided by their number: while all are idle, and after each has done an I/O. Objects that a
module allocates only a few times are rounded to zero.
"""

WHEN = ("idle", "used")

# Columns of /proc/slabinfo, version 2.1.
_NAME, _ACTIVE, _SIZE = 0, 1, 3
_HEAD = 2


def parse(text: str) -> dict[str, tuple[int, int]]:
    """Return objects in use and bytes of each, by cache."""
    caches = {}
    for line in text.splitlines()[_HEAD:]:
        words = line.split()
        caches[words[_NAME]] = (int(words[_ACTIVE]), int(words[_SIZE]))
    return caches


def growth(before: str, after: str, cgroups: int) -> dict[str, dict[str, int]]:
    """Return objects per cgroup and bytes of each, for caches that grew with the cgroups."""
    there, grown = parse(before), parse(after)
    found = {}
    for name, (active, size) in grown.items():
        objects = round((active - there.get(name, (0, size))[0]) / cgroups)
        if objects > 0:
            found[name] = {"objects": objects, "bytes": size}
    return found


def per_cgroup(caches: dict[str, dict[str, int]]) -> int:
    """Return the sum in bytes."""
    return sum(cache["objects"] * cache["bytes"] for cache in caches.values())
