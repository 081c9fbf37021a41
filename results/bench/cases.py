"""The cases of the benchmark: loads, numbers of cgroups, schedulers."""

from dataclasses import dataclass

SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq", "htbs")
BASE = "none"

# Titles on the page, as in the laboratory.
TITLES = {name: name for name in SCHEDULERS} | {"bfq": "BFQ", "htbs": "HTBS"}

CGROUPS = (1, 100, 10_000)
PATTERNS = ("randread", "read")
DEPTHS = (1, 32)

BLOCK = 4096


@dataclass(frozen=True)
class Load:
    """Readers of 4 KiB blocks with direct I/O, and the null_blk disk that they read.

    readers: the number of fio jobs, which are in a cgroup each, or all in one; engine: fio's
    ioengine; disk: its name; seconds: virtual time that is measured; bw: the sum of their
    reservations under HTBS, bytes/s.
    """

    name: str
    readers: int
    engine: str
    disk: str
    seconds: float
    bw: int


# The disk completes a request within its submission, so none waits. Only the path is measured.
ALONE = Load("alone", 1, "io_uring", "nullb0", 0.2, 100 << 20)

# The same with a reservation that no reader exceeds, so each request conforms.
KEPT = Load("kept", 1, "io_uring", "nullb0", 0.2, 16 << 30)

# The disk takes 64 requests at a time for 0.2 ms each, and 100 readers submit more. The rest waits
# in the scheduler or for a tag. io_uring would hand requests without a tag to threads of its own.
CROWD = Load("crowd", 100, "libaio", "nullb1", 0.3, 100 << 20)


@dataclass(frozen=True)
class Case:
    """One load on one disk; depth: of each reader; cgroups: how many have done I/O on it."""

    load: Load
    pattern: str
    depth: int
    cgroups: int

    @property
    def name(self) -> str:
        """Return the name of the case in the results."""
        return f"{self.load.name}-{self.pattern}-{self.depth}-{self.cgroups}"


def cases() -> list[Case]:
    """Return all cases. The numbers of cgroups rise, so that cgroups need only be added.

    A crowd in one cgroup is the baseline of a crowd in many; its pattern makes no difference.
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
