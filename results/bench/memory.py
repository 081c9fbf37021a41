"""Bytes per cgroup and disk that a scheduler's module holds, from /proc/slabinfo.

The growth of each slab cache between a kernel without the module and one in which it has state for
all cgroups, divided by their number: while all are idle, and after each has done an I/O. What a
module allocates once, or a few times, rounds to none.
"""

WHEN = ("idle", "used")

# Columns of /proc/slabinfo, version 2.1.
_NAME, _ACTIVE, _SIZE = 0, 1, 3
_HEAD = 2


def parse(text: str) -> dict[str, tuple[int, int]]:
    """Objects in use and bytes of each, by cache."""
    caches = {}
    for line in text.splitlines()[_HEAD:]:
        words = line.split()
        caches[words[_NAME]] = (int(words[_ACTIVE]), int(words[_SIZE]))
    return caches


def growth(before: str, after: str, cgroups: int) -> dict[str, dict[str, int]]:
    """For each cache that grew with the cgroups: objects per cgroup and bytes of each."""
    there, grown = parse(before), parse(after)
    found = {}
    for name, (active, size) in grown.items():
        objects = round((active - there.get(name, (0, size))[0]) / cgroups)
        if objects > 0:
            found[name] = {"objects": objects, "bytes": size}
    return found


def per_cgroup(caches: dict[str, dict[str, int]]) -> int:
    """Bytes in all."""
    return sum(cache["objects"] * cache["bytes"] for cache in caches.values())
