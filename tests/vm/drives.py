"""Disks of QEMU for a guest on the real clock, by their drivers."""

from typing import TYPE_CHECKING

from tests.vm.kernels import SetupError

if TYPE_CHECKING:
    from tests.vm.guest import Guest

# QEMU's options besides -drive; @ is the drive's id.
_DEVICES = {
    "virtio-blk": ("virtio-blk-pci,drive=@,num-queues=2",),
    "virtio-scsi": ("virtio-scsi-pci,id=bus-@,num_queues=2", "scsi-hd,drive=@,bus=bus-@.0"),
    "nvme": ("nvme,drive=@,serial=@",),
    "ahci": ("ich9-ahci,id=bus-@", "ide-hd,drive=@,bus=bus-@.0"),
}
DRIVERS = tuple(_DEVICES)

_BYTES = 256 << 20


def options(guest: "Guest") -> list[str]:
    """Create the guest's empty drives, and return QEMU's options for them."""
    words = []
    for number, driver in enumerate(guest.drives):
        if driver not in _DEVICES:
            raise SetupError(f"drives are {', '.join(DRIVERS)}, not {driver!r}")
        image, name = guest.directory / f"drive{number}", f"drive{number}"
        with image.open("wb") as file:
            file.truncate(_BYTES)
        words += ["-drive", f"file={image},format=raw,if=none,id={name},cache=unsafe"]
        for device in _DEVICES[driver]:
            words += ["-device", device.replace("@", name)]
    return words


def remove(guest: "Guest") -> None:
    """Remove the images of a guest that has ended."""
    for image in guest.directory.glob("drive*"):
        image.unlink()
