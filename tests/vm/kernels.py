"""The kernels that scripts/setup has unpacked below build/kernels."""

import re
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
BUILD = REPO / "build"
KERNELS = BUILD / "kernels"


class SetupError(RuntimeError):
    """Something that a guest needs is missing or wrong; the text names the remedy."""


@dataclass(frozen=True)
class Kernel:
    """An unpacked kernel package, or a kernel of our own, whose build directory is `headers`."""

    version: str
    root: Path
    headers: Path | None = None

    @property
    def image(self) -> Path:
        """The bootable image; newer packages have it in the directory of the modules."""
        boot = self.root / "boot" / f"vmlinuz-{self.version}"
        return boot if boot.exists() else self.modules / "vmlinuz"

    @property
    def modules(self) -> Path:
        """The directory of its modules."""
        return self.root / "lib" / "modules" / self.version

    @property
    def series(self) -> str:
        """The first two numbers of the version."""
        return ".".join(self._numbers()[:2])

    @property
    def flavour(self) -> str:
        """Debian's flavour: amd64, cloud-amd64 or rt-amd64; debug, kcsan or rtdebug of our own."""
        return re.search(r"((cloud|rt)-)?[a-z0-9]+$", self.version)[0]

    @property
    def distribution(self) -> str:
        """The release of Debian and the series."""
        found = re.search(r"\+deb(\d+)", self.version)
        return f"Debian {found[1] if found else 12}, {self.series}"

    @property
    def shares_files(self) -> bool:
        """Return true if a guest on the real clock can mount the host's files and use them.

        Cloud kernels have no 9p, and the host's programs are not for arm64.
        """
        return not self.version.endswith("-arm64") and any(self.modules.glob("kernel/fs/9p/9p.ko*"))

    @property
    def patience(self) -> int:
        """How many times as long as a stock kernel it may take for the same."""
        return 6 if self.headers else 1

    def age(self) -> tuple[int, ...]:
        """Return a key that sorts old before new."""
        return tuple(int(number) for number in self._numbers())

    def _numbers(self) -> list[str]:
        return re.findall(r"\d+", self.version.split("+")[0].removesuffix(self.flavour))


def available() -> list[Kernel]:
    """Return all unpacked kernels, oldest first."""
    found = [Kernel(path.name, path) for path in KERNELS.glob("*") if path.is_dir()]
    return sorted((kernel for kernel in found if kernel.image.exists()), key=Kernel.age)


def select(name: str) -> Kernel:
    """Return the kernel of a name such as 7.3, 7.3-rt-amd64 or a full version."""
    series, _, flavour = name.partition("-")
    return newest(name if series.count(".") > 1 else series, flavour or "amd64")


def newest(series: str, flavour: str = "amd64") -> Kernel:
    """Return the newest unpacked kernel of a series; series may also be a full version.

    If two releases of Debian have the series, it is the kernel of the older release, with which the
    lab's numbers were measured.
    """
    kernels = sorted(available(), key=lambda kernel: ("+deb13" not in kernel.version, kernel.age()))
    for kernel in reversed(kernels):
        if kernel.version == series or (kernel.series, kernel.flavour) == (series, flavour):
            return kernel
    have = ", ".join(kernel.version for kernel in available()) or "none"
    raise SetupError(
        f"no {series} {flavour} kernel in build/kernels (there: {have}): run scripts/setup"
    )
