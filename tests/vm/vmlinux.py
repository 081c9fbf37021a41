"""A kernel unpacked on the host, once, and not in every guest: half of a boot without KVM.

QEMU enters it by its PVH note. A kernel of our own, which need not have one, stays as it is.
"""

import os
from pathlib import Path

from scripts.kernel_types.image import unpack_image
from tests.vm import machine
from tests.vm.kernels import BUILD, Kernel


def bootable(kernel: Kernel) -> Path:
    """What to give to QEMU."""
    if kernel.headers or machine.of(kernel) is not machine.AMD64:
        return kernel.image
    unpacked = BUILD / "vmlinux" / kernel.version
    if not unpacked.exists():
        whole = unpacked.with_name(f".{kernel.version}.{os.getpid()}")
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(unpack_image(kernel.image.read_bytes()))
        whole.replace(unpacked)
    return unpacked
