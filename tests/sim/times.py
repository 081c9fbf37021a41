"""What requests take on a drive, from its data sheet."""

from dataclasses import dataclass

from tests.model.reservation import SECOND
from tests.sim.drives import MS, Disk, Flash


@dataclass(frozen=True)
class DiskTimes:
    """What a request takes on a disk, ns."""

    drive: Disk

    @property
    def _extra(self) -> float:
        return self.drive.hypervisor.mean if self.drive.hypervisor else 0

    @property
    def _turn(self) -> float:
        return 60 * SECOND / self.drive.rpm

    def transfer(self, size: int) -> float:
        """Of a request that goes on where the one before ended, at the inner edge."""
        return self.drive.command + self._extra + size * SECOND / (self.drive.rate / 2)

    def mean(self, size: int, write: bool) -> float:
        """Of a request at a random place; a write with its part of the cleaning."""
        clean = self.drive.clean / self.drive.clean_writes if self.drive.clean_writes else 0
        more = MS + clean if write else 0
        return self.drive.mean_seek + self._turn / 2 + self.transfer(size) + more

    def longest(self, size: int, write: bool) -> float:
        """Of the same: a seek over all of the disk and a revolution, and cleaning."""
        tail = self.drive.hypervisor.longest if self.drive.hypervisor else 0
        more = MS + self.drive.clean if write else 0
        return 2 * self.drive.mean_seek + self._turn + self.transfer(size) + tail + more


@dataclass(frozen=True)
class FlashTimes:
    """What a request takes on a flash drive that does nothing else, ns."""

    drive: Flash

    def transfer(self, size: int) -> float:
        """Of a read; what comes in sequence has no advantage."""
        its = self.drive
        extra = its.hypervisor.mean if its.hypervisor else 0
        pages = -(-size // its.page)
        moved = size * SECOND / its.channel + size * SECOND / its.link
        return its.controller + pages * its.read + moved + extra

    def mean(self, size: int, write: bool) -> float:
        """Of a request anywhere; of a write the time of all dies that it takes in the end.

        With a part s to spare, random overwrites have each page programmed (1 + s) / 2 s times
        (Desnoyers, "Analytic models of SSD write performance", 2014).
        """
        its = self.drive
        if not write:
            return self.transfer(size)
        again = (1 + its.spare) / (2 * its.spare)
        return size / its.page * (its.program + its.read) * again / its.dies

    def longest(self, size: int, write: bool) -> float:
        """Of the same. A write leaves a read two erasures to wait for, and a program.

        Two, as the page may lie behind another read. An erasure that is suspended is none.
        """
        its = self.drive
        tail = its.hypervisor.longest if its.hypervisor else 0
        stop = min(its.suspend, its.erase) if its.suspend else its.erase
        return self.transfer(size) + tail + (2 * stop + its.program + MS if write else 0)


def times(drive: Disk | Flash) -> DiskTimes | FlashTimes:
    """What requests take on a drive."""
    return DiskTimes(drive) if isinstance(drive, Disk) else FlashTimes(drive)
