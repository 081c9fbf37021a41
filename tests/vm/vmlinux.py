"""Unpack a kernel on the host once, not in every guest, which takes half of a boot without KVM.

QEMU enters the kernel by its PVH note. A kernel of our own need not have this note, and is left as
it is.
"""

import os
from pathlib import Path

from scripts.kernel_types.image import unpack_image
from tests.vm import machine
from tests.vm.kernels import BUILD, Kernel


def bootable(kernel: Kernel) -> Path:
    """Return the kernel image for QEMU."""
    if kernel.headers or machine.of(kernel) is not machine.AMD64:
        return kernel.image
    unpacked = BUILD / "vmlinux" / kernel.version
    if not unpacked.exists():
        whole = unpacked.with_name(f".{kernel.version}.{os.getpid()}")
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(unpack_image(kernel.image.read_bytes()))
        whole.replace(unpacked)
    return unpacked
