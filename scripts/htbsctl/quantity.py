"""Sizes, rates and times as people write them, and back.

K, M, G and T are powers of 1024, as in io.htbs. With a B they have their exact meaning: MiB is a
power of 1024, MB a power of 1000. A small b, for bits, is refused.
"""

import argparse
import math
import re
from fractions import Fraction

from htbsctl.failure import Exit, Failure

_NUMBER = r"(?P<number>\d+(?:\.\d+)?)"
_SIZE = re.compile(_NUMBER + r"\s*(?P<prefix>[kKmMgGtT]?)(?P<unit>i?B|b|)(?P<rate>/s|ps|)")
_TIME = re.compile(_NUMBER + r"\s*(?P<unit>[a-zµ]*)")
_PREFIXES = " KMGT"
_MICROSECONDS = {"us": 1, "µs": 1, "ms": 1000, "s": 1_000_000}
_WORDS = {1: "ms", 2: "s"}


def size(text: str) -> int:
    """Return bytes. Raises Failure, with Exit.USAGE, if the text is not a size."""
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise _wrong(f"{text!r} is not a size", "write bytes, or K, M, G or T, as in 400M")
    if found["unit"] == "b":
        raise _wrong(f"{text!r} may be bits", f"write {text.replace('b', 'B')} for bytes")
    if found["rate"]:
        raise _wrong(f"{text!r} is a rate, not a size", "leave out the part after the unit")
    return _bytes(found)


def rate(text: str) -> int:
    """Return bytes per second. Raises Failure, with Exit.USAGE, if the text is not a rate."""
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise _wrong(
            f"{text!r} is not a rate", "write bytes per second, or K, M, G or T, as in 400M"
        )
    if found["unit"] == "b" or found["rate"] == "ps":
        raise _wrong(f"{text!r} may be bits per second", "write 400M or 400MB/s for bytes")
    return _bytes(found)


def time_us(text: str) -> int:
    """Return us. Raises Failure, with Exit.USAGE, if the text is not a time with its unit."""
    found = _TIME.fullmatch(text.strip())
    unit = _MICROSECONDS.get(found["unit"]) if found else None
    if not unit:
        raise _wrong(f"{text!r} is not a time", "write it with its unit, as in 10ms, 500us, 1s")
    microseconds = Fraction(found["number"]) * unit
    if microseconds.denominator != 1:
        raise _wrong(f"{text!r} is not a whole number of microseconds", "round it")
    return int(microseconds)


def number(text: str) -> int:
    """Return a whole number. Raises Failure, with Exit.USAGE, if the text is not one."""
    if not (text.isascii() and text.isdecimal()):
        raise _wrong(f"{text!r} is not a whole number", "as in 128")
    return int(text)


def requests(text: str) -> int:
    """Return the requests of a queue. Raises Failure, with Exit.USAGE, for less than 4.

    The kernel would set 4 instead, so the value would never be the requested one.
    """
    if (found := number(text)) < 4:
        raise _wrong(f"{found} is less than the 4 requests of the shortest queue", "give 4 or more")
    return found


def seconds(text: str) -> float:
    """Return a duration, for argparse. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, as in 10 or 0.5")
    return value


def count(text: str) -> int:
    """Return a count, for argparse. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def size_text(value: float) -> str:
    """For example 4 KiB, 1.5 GiB."""
    power = 0
    while value >= 1024 and power < len(_PREFIXES) - 1:
        value, power = value / 1024, power + 1
    return f"{value:.4g} {_PREFIXES[power].strip()}{'iB' if power else 'B'}"


def rate_text(value: float) -> str:
    """For example 400 MiB/s."""
    return size_text(value) + "/s"


def time_text(microseconds: float) -> str:
    """For example 10 ms, 500 us, 1.5 s."""
    power = 0
    while microseconds >= 1000 and power < len(_WORDS):
        microseconds, power = microseconds / 1000, power + 1
    return f"{microseconds:.4g} {_WORDS.get(power, 'us')}"


def exact_size(value: int) -> str:
    """Return the shortest text that size() and rate() read as the value, such as 400M."""
    power = 0
    while value and value % 1024 == 0 and power < len(_PREFIXES) - 1:
        value, power = value // 1024, power + 1
    return f"{value}{_PREFIXES[power].strip()}"


def round_up(value: int, base: int) -> int:
    """Round up to two or more digits of a power of base, as a person would."""
    unit = 1
    while value >= 10 * unit * base:
        unit *= base
    return -(-value // unit) * unit


def exact_time(microseconds: int) -> str:
    """Return the shortest text that time_us() reads as the value, such as 10ms."""
    power = 0
    while microseconds and microseconds % 1000 == 0 and power < len(_WORDS):
        microseconds, power = microseconds // 1000, power + 1
    return f"{microseconds}{_WORDS.get(power, 'us')}"


def _bytes(found: re.Match) -> int:
    base = 1000 if found["unit"] == "B" else 1024
    power = _PREFIXES.index(found["prefix"].upper() or " ")
    value = Fraction(found["number"]) * base**power
    if value.denominator != 1:
        raise _wrong(f"{found[0]!r} is not a whole number of bytes", "round it")
    return int(value)


def _wrong(what: str, remedy: str) -> Failure:
    return Failure(what, remedy, Exit.USAGE)
