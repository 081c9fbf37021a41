"""How long requests take on a drive, computed from its data sheet."""

from dataclasses import dataclass

from tests.model.reservation import SECOND
from tests.sim.drives import MS, Disk, Flash


@dataclass(frozen=True)
class DiskTimes:
    """How long a request takes on a disk, ns."""

    drive: Disk

    @property
    def _extra(self) -> float:
        return self.drive.hypervisor.mean if self.drive.hypervisor else 0

    @property
    def _turn(self) -> float:
        return 60 * SECOND / self.drive.rpm

    def transfer(self, size: int) -> float:
        """Return the time of a request that begins where the last one ended, at the inner edge."""
        return self.drive.command + self._extra + size * SECOND / (self.drive.rate / 2)

    def mean(self, size: int, write: bool) -> float:
        """Return the mean time of a request at a random position. A write includes cleaning."""
        clean = self.drive.clean / self.drive.clean_writes if self.drive.clean_writes else 0
        more = MS + clean if write else 0
        return self.drive.mean_seek + self._turn / 2 + self.transfer(size) + more

    def longest(self, size: int, write: bool) -> float:
        """Return the longest time: a full-stroke seek, a revolution, the transfer and cleaning."""
        tail = self.drive.hypervisor.longest if self.drive.hypervisor else 0
        more = MS + self.drive.clean if write else 0
        return 2 * self.drive.mean_seek + self._turn + self.transfer(size) + tail + more


@dataclass(frozen=True)
class FlashTimes:
    """How long a request takes on an otherwise idle flash drive, ns."""

    drive: Flash

    def transfer(self, size: int) -> float:
        """Return the time of a read. Sequential reads are no faster."""
        its = self.drive
        extra = its.hypervisor.mean if its.hypervisor else 0
        pages = -(-size // its.page)
        moved = size * SECOND / its.channel + size * SECOND / its.link
        return its.controller + pages * its.read + moved + extra

    def mean(self, size: int, write: bool) -> float:
        """Return the mean time of a request at any position; of a write, the die time it costs.

        If a part s of the capacity is spare, random overwrites make the drive program each page (1
        + s) / 2 s times (Desnoyers, "Analytic models of SSD write performance", 2014).
        """
        its = self.drive
        if not write:
            return self.transfer(size)
        again = (1 + its.spare) / (2 * its.spare)
        return size / its.page * (its.program + its.read) * again / its.dies

    def longest(self, size: int, write: bool) -> float:
        """Return the longest time of such a request.

        A read beside writes may have to wait for a program and for two erasures, because its page
        may lie behind another read. It does not have to wait for erasures that are suspended.
        """
        its = self.drive
        tail = its.hypervisor.longest if its.hypervisor else 0
        stop = min(its.suspend, its.erase) if its.suspend else its.erase
        return self.transfer(size) + tail + (2 * stop + its.program + MS if write else 0)


def times(drive: Disk | Flash) -> DiskTimes | FlashTimes:
    """Return the times of requests on a drive."""
    return DiskTimes(drive) if isinstance(drive, Disk) else FlashTimes(drive)
