# SPDX-License-Identifier: GPL-2.0
"""Find a kernel's BTF in a bare BTF file, an ELF file, a bzImage, or an Image of arm64."""

import gzip
import lzma
import platform
import re
import struct
import subprocess
import zlib
from pathlib import Path

from .btf import Failure

# Documentation/arch/arm64/booting.rst.
ARM64_MAGIC = b"ARM\x64"
# Magic, version, flags and the length of the header.
BTF_HEADER = b"\x9f\xeb\x01\x00\x18\x00\x00\x00"
LEAST_BTF = 1 << 18


def elf_section(data: bytes, wanted: bytes) -> bytes:
    """Return the content of a section of a 64-bit ELF file, empty if there is none."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    for name, _, _, _, offset, length in sections:
        start = sections[names][4] + name
        if data[start:data.index(0, start)] == wanted:
            return data[offset:offset + length]
    return b""


def run(command: str, data: bytes) -> bytes:
    """Return the output of a decompressor for `data`."""
    try:
        # Tools complain about padding after the data, so the output is checked instead.
        return subprocess.run([command, "-dc"], input=data, capture_output=True, check=False).stdout
    except FileNotFoundError:
        raise Failure(f"the kernel image is compressed by {command}: "
                      f"install the {command} command") from None


def unpack_image(image: bytes) -> bytes:
    """Return the ELF file in a bzImage (Documentation/arch/x86/boot.rst)."""
    start = (image[0x1F1] + 1) * 512 + struct.unpack_from("<I", image, 0x248)[0]
    # The last four bytes are the unpacked size.
    payload = image[start:start + struct.unpack_from("<I", image, 0x24C)[0] - 4]
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return gzip.decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        return run("zstd", payload)
    if payload.startswith(b"\x02\x21\x4c\x18"):
        return run("lz4", payload)
    raise Failure("the kernel image is compressed in an unknown way: give VMLINUZ= an ELF vmlinux")


def image_version(image: bytes) -> str:
    """Return release and version of a bzImage or an arm64 Image, empty for another file."""
    if image[0x202:0x206] == b"HdrS":
        start = struct.unpack_from("<H", image, 0x20E)[0] + 0x200
        return image[start:image.index(0, start)].decode(errors="replace")
    if image[0x38:0x3C] == ARM64_MAGIC:
        banner = re.search(rb"Linux version (\S+) .*(#\d+ [^\n]*)\n", image)
        return b" ".join(banner.groups()).decode(errors="replace") if banner else ""
    return ""


def find_btf(image: bytes) -> bytes:
    """Return the BTF in an Image, which is the kernel's memory and has no sections.

    The BTF of a module has the same header, but is small.
    """
    for found in re.finditer(re.escape(BTF_HEADER), image):
        start = found.start()
        types, length, strings, size = struct.unpack_from("<IIII", image, start + 8)
        if types == 0 and strings == length and size and length > LEAST_BTF:
            return image[start:start + 24 + strings + size]
    return b""


def read_btf(source: Path) -> bytes:
    """Return the BTF of a bare BTF file, an ELF file, a bzImage or an Image."""
    data = source.read_bytes()
    try:
        if data[0x38:0x3C] == ARM64_MAGIC:
            data = find_btf(data)
        elif image_version(data):
            data = unpack_image(data)
        if data.startswith(b"\x7fELF"):
            data = elf_section(data, b".BTF")
    except (struct.error, IndexError, EOFError, ValueError, lzma.LZMAError, zlib.error):
        raise Failure(f"{source} is damaged: install its package again") from None
    if not data.startswith(b"\x9f\xeb"):
        raise Failure(f"{source} holds no BTF: give VMLINUZ= a vmlinuz or vmlinux built with "
                      "CONFIG_DEBUG_INFO_BTF")
    return data


def headers_version(headers: Path) -> str:
    """Return UTS_VERSION of the kernel that the headers belong to, empty if unknown."""
    try:
        text = (headers / "include/generated/utsversion.h").read_text()
    except FileNotFoundError:
        return ""
    return re.search(r'"(.*)"', text)[1]


def find_source(kver: str, headers: Path, image: Path | None) -> Path:
    """Return the file with the target kernel's BTF, from the same build as the headers."""
    if image:
        if not image.is_file():
            raise Failure(f"there is no {image}: give VMLINUZ= the path of its vmlinuz or vmlinux")
        found = image_version(image.read_bytes()).split(" ")[0]
        if found not in ("", kver):
            raise Failure(f"{image} is of kernel {found}: give VMLINUZ= the one of this kernel")
        return image
    if (headers / "vmlinux").is_file():
        return headers / "vmlinux"
    version = headers_version(headers)
    running = Path("/sys/kernel/btf/vmlinux")
    if kver == platform.release() and version in ("", platform.version()) and running.is_file():
        return running
    unpacked = Path(__file__).resolve().parents[2] / "build/kernels" / kver
    for root in (Path("/"), unpacked):
        for candidate in (root / f"boot/vmlinuz-{kver}", root / f"lib/modules/{kver}/vmlinuz"):
            if candidate.is_file() and version in image_version(candidate.read_bytes()):
                return candidate
    raise Failure(f"no vmlinuz of the headers' build ({version or kver}) found, which holds its "
                  f"types: install or upgrade linux-image-{kver}, or give VMLINUZ=")
