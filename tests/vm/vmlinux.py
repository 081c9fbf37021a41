"""A kernel unpacked on the host, once, and not in every guest: half of a boot without KVM.

QEMU enters it by its PVH note. A kernel of our own, which need not have one, stays as it is.
"""

import importlib.util
import os
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from tests.vm.kernels import BUILD, REPO, Kernel


def bootable(kernel: Kernel) -> Path:
    """What to give to QEMU."""
    if kernel.headers:
        return kernel.image
    unpacked = BUILD / "vmlinux" / kernel.version
    if not unpacked.exists():
        whole = unpacked.with_name(f".{kernel.version}.{os.getpid()}")
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(_private_types().unpack_image(kernel.image.read_bytes()))
        whole.replace(unpacked)
    return unpacked


@cache
def _private_types() -> ModuleType:
    """The script that unpacks images. It is not a module, for it also runs where we are not."""
    name = "private_types"
    loader = SourceFileLoader(name, str(REPO / "scripts/private-types"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
