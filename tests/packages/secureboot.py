"""A machine with Secure Boot: OVMF, shim and GRUB signed by Debian, with or without a key enrolled.

The firmware has Microsoft's keys. It loads shim, which is signed with one of them. shim has
Debian's key and those of the variable MokList, and passes these to the kernel. `mokutil --import`
asks for a password at the next boot before it writes MokList; here virt-fw-vars writes it.
"""

import os
import subprocess
from pathlib import Path

from tests.vm.kernels import BUILD, REPO, SetupError

_ROOT = BUILD / "secureboot"
_FIRMWARE = _ROOT / "usr/share/OVMF"
_ESP_SIZE = "128M"
# The owner of the enrolled key; it may be any UUID.
_OWNER = "605dab50-e046-4300-abb6-3dd810dd8b23"


def arguments(directory: Path, kver: str, command_line: str, key: Path | None) -> list[str]:
    """Return the options with which QEMU's machine q35,smm=on boots a kernel under Secure Boot.

    directory: has vmlinuz-KVER and initrd-KVER, and gets the firmware's variables and the boot
    partition. key: the certificate to enrol, in DER, or None.
    """
    if not _ROOT.is_dir():
        raise SetupError(f"no {_ROOT.relative_to(REPO)}: run scripts/setup kernels")
    variables, esp = directory / "variables.fd", directory / "esp.img"
    _variables(variables, key)
    _boot_partition(esp, directory, kver, command_line)
    code = _FIRMWARE / "OVMF_CODE_4M.secboot.fd"
    return [
        *("-global", "driver=cfi.pflash01,property=secure,value=on"),
        *("-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}"),
        *("-drive", f"if=pflash,unit=1,format=raw,file={variables}"),
        *("-drive", f"if=virtio,format=raw,file={esp},cache=unsafe"),
    ]


def _variables(path: Path, key: Path | None) -> None:
    command = [BUILD / "venv/bin/virt-fw-vars", "--output", path]
    command += ["--input", _FIRMWARE / "OVMF_VARS_4M.ms.fd"]
    if key:
        pem = path.with_suffix(".pem")
        _run("openssl", "x509", "-inform", "DER", "-in", key, "-out", pem)
        command += ["--add-mok", _OWNER, pem]
    _run(*command)


def _boot_partition(esp: Path, directory: Path, kver: str, command_line: str) -> None:
    menu = directory / "grub.cfg"
    menu.write_text(
        f"set timeout=0\nlinux /vmlinuz {command_line}\ninitrd /initrd\nboot\n", encoding="ascii"
    )
    esp.unlink(missing_ok=True)
    _run("truncate", "-s", _ESP_SIZE, esp)
    _run("mformat", "-i", esp, "-F", "::")
    _run("mmd", "-i", esp, "::/EFI", "::/EFI/BOOT", "::/EFI/debian")
    for file, to in (
        (_ROOT / "usr/lib/shim/shimx64.efi.signed", "EFI/BOOT/BOOTX64.EFI"),
        (_ROOT / "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed", "EFI/BOOT/grubx64.efi"),
        (menu, "EFI/debian/grub.cfg"),
        (directory / f"vmlinuz-{kver}", "vmlinuz"),
        (directory / f"initrd-{kver}", "initrd"),
    ):
        _run("mcopy", "-i", esp, file, f"::/{to}")


def _run(*command: os.PathLike | str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupError(f"{' '.join(map(str, command))} failed: {done.stdout}{done.stderr}")
