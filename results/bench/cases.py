"""The cases that are measured: loads, numbers of cgroups, schedulers."""

from dataclasses import dataclass

SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq", "htbs")
BASE = "none"

# On the page, as on the page of the laboratory.
TITLES = {name: name for name in SCHEDULERS} | {"bfq": "BFQ", "htbs": "HTBS"}

CGROUPS = (1, 100, 10_000)
PATTERNS = ("randread", "read")
DEPTHS = (1, 32)

BLOCK = 4096


@dataclass(frozen=True)
class Load:
    """Readers of 4 KiB blocks with direct I/O, and the null_blk disk that they read.

    readers: fio jobs, one in each of as many cgroups, or all in one; engine: fio's ioengine; disk:
    which one; seconds: of virtual time that is measured; bw: the sum of their reservations under
    HTBS, bytes/s.
    """

    name: str
    readers: int
    engine: str
    disk: str
    seconds: float
    bw: int


# The disk completes a request within its submission, so that none waits: the path alone.
ALONE = Load("alone", 1, "io_uring", "nullb0", 0.2, 100 << 20)

# The same, but for a reservation that no reader exceeds: each request conforms.
KEPT = Load("kept", 1, "io_uring", "nullb0", 0.2, 16 << 30)

# The disk takes 64 requests at a time, for 0.2 ms each, and 100 readers want more: the rest waits
# in the scheduler, or for a tag. io_uring would hand requests without a tag to threads of its own.
CROWD = Load("crowd", 100, "libaio", "nullb1", 0.3, 100 << 20)


@dataclass(frozen=True)
class Case:
    """One load on one disk; depth: of each reader; cgroups: with a history on the disk."""

    load: Load
    pattern: str
    depth: int
    cgroups: int

    @property
    def name(self) -> str:
        """In the results."""
        return f"{self.load.name}-{self.pattern}-{self.depth}-{self.cgroups}"


def cases() -> list[Case]:
    """All of them. The numbers of cgroups rise, so that cgroups need only be added.

    A crowd in one cgroup is the measure of a crowd in many; its pattern makes no difference.
    """
    alone = [Case(ALONE, pattern, depth, 1) for pattern in PATTERNS for depth in DEPTHS]
    alone += [Case(KEPT, PATTERNS[0], depth, 1) for depth in DEPTHS]
    crowd = [Case(CROWD, PATTERNS[0], depth, 1) for depth in DEPTHS]
    crowd += [
        Case(CROWD, pattern, depth, cgroups)
        for cgroups in CGROUPS[1:]
        for pattern in PATTERNS
        for depth in DEPTHS
    ]
    return alone + crowd
