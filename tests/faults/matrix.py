"""The rows of the fault matrix, which are a table in docs/testing.md.

In every row fio or checksums verify all data, the kernel reports nothing, no request is lost or
starves (watch.sh), and afterwards io.htbs.stat adds up: inserted = completed + merged. In addition
`promise` holds.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row: rows/SCRIPT.sh.

    name: for commands; what: happens under load; promise: what holds meanwhile; short: the row is
    part of `make test`; many: a debug kernel does a tenth of it; bounds: the row is about waits and
    has a guest of its own; injects: the row needs a kernel with fault injection; driver: of its
    disk, one of QEMU's (tests/vm/drives.py).
    """

    name: str
    what: str
    promise: str
    short: bool = False
    many: bool = False
    bounds: bool = False
    injects: bool = False
    driver: str = ""

    @property
    def script(self) -> str:
        """The file below rows/, without .sh."""
        return "drive" if self.driver else self.name

    @property
    def command(self) -> str:
        """The command that runs the row."""
        if self.many:
            return f"make soak ROWS={self.name}"
        return "make test" if self.short else "make test-debug"


def _drive(driver: str, name: str, short: bool = False) -> Row:
    return Row(
        driver,
        f"real driver in QEMU: {name}, ext4 on top, scheduler switched",
        "every file has its checksum, fsck finds nothing",
        short=short,
        driver=driver,
    )


ROWS = (
    Row(
        "switch",
        "another scheduler and back every 200 ms: none, mq-deadline, kyber, bfq",
        "reservations are in force again after each switch",
        short=True,
    ),
    Row(
        "unload",
        "the module is unloaded and loaded again",
        "disks stay usable; nothing of the module stays behind",
        short=True,
    ),
    Row(
        "cgroups",
        "cgroups are created, configured and removed, and tasks move between them",
        "requests in flight complete where they were charged; each cgroup can be removed",
        short=True,
    ),
    Row(
        "tunables",
        "nr_requests, all tunables and reservations change",
        "each change is in force at once",
        short=True,
    ),
    Row(
        "starvation",
        "conforming readers keep quotas low; two groups submit 80 % and 200 % of their reservation",
        "every 2 s each gets nine tenths of what it submits within its reservation",
        short=True,
        bounds=True,
    ),
    Row(
        "fsync",
        "writers of the idle class flush each write, beside conforming readers",
        "flushes of other groups do not wait in the background",
        short=True,
        bounds=True,
    ),
    Row(
        "metadata",
        "a group with a small cap, and a task of the idle class, read metadata of ext4",
        "they are not throttled",
        short=True,
        bounds=True,
    ),
    Row(
        "throttled",
        "a CPU goes offline and processes are frozen while a cap holds up all I/O",
        "neither waits for the cap",
        short=True,
        bounds=True,
    ),
    Row(
        "tags",
        "a buffered writer and readers could hold all tags of the queue",
        "a group with a reservation gets as many as it needs; the log says if there are too few",
        short=True,
        bounds=True,
    ),
    Row("cpus", "a CPU goes offline and comes back", "no I/O waits for it", short=True),
    Row(
        "queues",
        "the number of hardware queues changes",
        "scheduler and reservations are the same afterwards",
        short=True,
    ),
    Row(
        "removal",
        "null_blk, SCSI and simulated disks are removed",
        "I/O fails with an error; the disk's reservations are removed with it",
        short=True,
    ),
    Row(
        "errors",
        "a SCSI disk is busy, loses its transport, does not answer, has bad sectors",
        "requests that are requeued succeed; only reads of bad sectors fail",
    ),
    Row(
        "freeze",
        "file system and processes are frozen and thawed, as for a snapshot or suspend",
        "freezing completes; I/O continues afterwards; fsck finds nothing",
    ),
    Row(
        "writeback",
        "write-back from a cgroup with memory.high, memory.max and io.max, on ext4",
        "each cgroup is charged for its own pages; files read back as written",
    ),
    Row(
        "stacked",
        "ext4 on device mapper on an md mirror, a member fails and is rebuilt",
        "the user's cgroup is charged on the members; files read back as written",
    ),
    Row(
        "devices",
        "1,000 disks of one host",
        "each takes reservations and can be removed",
        many=True,
    ),
    Row("groups", "10,000 cgroups with reservations on one disk", "each gets its I/O", many=True),
    _drive("virtio-blk", "virtio-blk"),
    _drive("virtio-scsi", "virtio-scsi"),
    _drive("ahci", "AHCI", short=True),
    Row(
        "inject",
        "the driver requeues requests, lets them time out, loses completions",
        "only requests that time out fail",
        injects=True,
    ),
    Row(
        "memory",
        "each memory allocation of the module's initialisation, of switching, configuring and first"
        " I/O fails once",
        "-ENOMEM or success; the next attempt works",
        injects=True,
    ),
    # It is the last one because lockdep takes a SCSI disk after it for a deadlock: the driver of
    # NVMe takes limits_lock while no I/O may begin, that of SCSI disks sends commands under it, and
    # lockdep does not distinguish the write-back of disks.
    _drive("nvme", "NVMe", short=True),
)
BY_NAME = {row.name: row for row in ROWS}

# Not a row: a disk that never takes its request. The stall detector has to find it.
STALLED = Row("stalled", "a SCSI disk is busy for ever", "the row fails")
