"""Reservations: as people write them, and as io.htbs shows them."""

from dataclasses import asdict, dataclass, replace

from htbsctl import quantity
from htbsctl.failure import Exit, Failure

#: Keys of io.htbs, in its order.
KEYS = ("bw", "burst", "latency", "weight", "max", "iops")
COST_MIN = 4096

#: Keys that can be removed, and the word that removes them.
_NONE = {"bw": "max", "max": "max", "iops": "max", "weight": "default"}
# The ranges of sysfs/ABI/cgroup-io-htbs.
_RANGES = {
    "bw": (4096, 1 << 40),
    "burst": (4096, 1 << 32),
    "latency": (1, 100_000_000),
    "weight": (1, 10_000),
    "max": (4096, 1 << 40),
    "iops": (1, 1 << 28),
}
_READ = {
    "bw": quantity.rate,
    "burst": quantity.size,
    "latency": quantity.time_us,
    "max": quantity.rate,
}
_EXACT = {
    "bw": quantity.exact_size,
    "burst": quantity.exact_size,
    "latency": quantity.exact_time,
    "max": quantity.exact_size,
}
_TEXT = {
    "bw": quantity.rate_text,
    "burst": quantity.size_text,
    "latency": quantity.time_text,
    "max": quantity.rate_text,
}


@dataclass(frozen=True)
class Reservation:
    """A group's reservation on a disk; 0: not given.

    bw, max: bytes/s; burst: bytes; latency: microseconds; iops: operations/s.
    """

    bw: int = 0
    burst: int = 0
    latency: int = 0
    weight: int = 0
    max: int = 0
    iops: int = 0

    def merged(self, keys: dict[str, int]) -> "Reservation":
        """Return it with these keys in place of its own, like a write to io.htbs."""
        return replace(self, **keys)

    def keys(self) -> dict[str, int]:
        """Return the keys that are given."""
        return {key: value for key, value in asdict(self).items() if value}

    def text(self) -> str:
        """Return a text for people."""
        return text(self.keys())

    def whole(self) -> dict[str, int]:
        """Return the keys of a write that replaces everything."""
        return dict.fromkeys(_NONE, 0) | self.keys()

    def checked(self) -> "Reservation":
        """Return itself. Raises Failure, with Exit.USAGE, if the kernel refuses it on any disk."""
        if not self.bw and not self.iops:
            raise Failure(
                "a reservation needs a bandwidth or operations", "give it bw or iops", Exit.USAGE
            )
        # If only operations are reserved, each counts as the smallest request.
        rate = self.bw or self.iops * COST_MIN
        if 0 < self.max < rate:
            raise Failure(
                f"max {quantity.exact_size(self.max)} is less than what is reserved",
                f"it must be {quantity.exact_size(rate)} or more",
                Exit.USAGE,
            )
        return self

    @staticmethod
    def read(words: list[str]) -> "Reservation":
        """Parse words that people write, such as bw=400M. Raises Failure."""
        keys = {}
        for word in words:
            key, _, value = word.partition("=")
            if key not in KEYS or not value:
                known = ", ".join(KEYS)
                raise Failure(f"{word!r} is not a reservation key", f"valid keys: {known}")
            keys[key] = value_of(key, value)
        return Reservation(**keys).checked()

    def exact(self) -> str:
        """Return the words, the inverse of read()."""
        return " ".join(
            f"{key}={_EXACT.get(key, str)(value)}" for key, value in self.keys().items()
        )


@dataclass(frozen=True)
class Line:
    """A line of io.htbs: the reservation in force. origin: "", "inherited" or "default"."""

    number: str
    reservation: Reservation
    origin: str = ""


def value_of(key: str, text: str) -> int:
    """Return a key's value as people write it; 0 for max or default, which remove it.

    Raises Failure, with Exit.USAGE, if io.htbs would refuse it.
    """
    if text == _NONE.get(key):
        return 0
    if key in _READ:
        value = _READ[key](text)
    elif text.isdecimal():
        value = int(text)
    else:
        raise Failure(f"{key} {text!r} is not a number", f"as in --{key} 200", Exit.USAGE)
    least, most = _RANGES[key]
    if not least <= value <= most:
        show = _TEXT.get(key, str)
        raise Failure(
            f"{key} {text!r} is {show(value)}",
            f"it must be {show(least)} to {show(most)}",
            Exit.USAGE,
        )
    return value


def words(keys: dict[str, int]) -> str:
    """Return keys as in a write to io.htbs; 0 removes one."""
    return " ".join(f"{key}={value or _NONE[key]}" for key, value in keys.items())


def text(keys: dict[str, int]) -> str:
    """Return keys for people."""
    return ", ".join(
        f"{key} {_TEXT.get(key, str)(value) if value else _NONE[key]}"
        for key, value in keys.items()
    )


def parse(text: str) -> list[Line]:
    """Return the lines of an io.htbs."""
    return [_line(line.split()) for line in text.splitlines()]


def _line(words: list[str]) -> Line:
    origin = words[-1] if "=" not in words[-1] else ""
    pairs = (word.split("=") for word in words[1 : -1 if origin else None])
    keys = {key: 0 if value == "max" else int(value) for key, value in pairs if key in KEYS}
    return Line(words[0], Reservation(**keys), origin)
