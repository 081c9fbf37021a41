"""The kernels that scripts/setup has unpacked below build/kernels."""

import re
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
BUILD = REPO / "build"
KERNELS = BUILD / "kernels"


class SetupError(RuntimeError):
    """Something that a guest is made of is missing or wrong; the text names the remedy."""


@dataclass(frozen=True)
class Kernel:
    """One unpacked kernel package, or one of our own, for which headers is its build directory."""

    version: str
    root: Path
    headers: Path | None = None

    @property
    def image(self) -> Path:
        """The bootable image; newer packages have it beside the modules."""
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
        """Debian's flavour: amd64, cloud-amd64 or rt-amd64; debug or kcsan for one of our own."""
        return re.search(r"((cloud|rt)-)?[a-z0-9]+$", self.version)[0]

    @property
    def patience(self) -> int:
        """How many times longer than a stock kernel it may take for the same."""
        return 6 if self.headers else 1

    def age(self) -> tuple[int, ...]:
        """A key that sorts old before new."""
        return tuple(int(number) for number in self._numbers())

    def _numbers(self) -> list[str]:
        return re.findall(r"\d+", self.version.split("+")[0].removesuffix(self.flavour))


def available() -> list[Kernel]:
    """All unpacked kernels, oldest first."""
    found = [Kernel(path.name, path) for path in KERNELS.glob("*") if path.is_dir()]
    return sorted((kernel for kernel in found if kernel.image.exists()), key=Kernel.age)


def newest(series: str, flavour: str = "amd64") -> Kernel:
    """The newest unpacked kernel of a series; series may also be a whole version."""
    for kernel in reversed(available()):
        if kernel.version == series or (kernel.series, kernel.flavour) == (series, flavour):
            return kernel
    have = ", ".join(kernel.version for kernel in available()) or "none"
    raise SetupError(
        f"no {series} {flavour} kernel in build/kernels (there: {have}): run scripts/setup"
    )
