"""Tables, JSON, and the time left."""

import json
import sys
import time
from collections.abc import Iterator, Sequence

NOTHING = "-"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Return columns as wide as their content; right: those that are right-aligned."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def as_json(value: object) -> str:
    """Return JSON, indented by two spaces."""
    return json.dumps(value, indent=2)


def countdown(doing: str, seconds: float, period: float = 0.5) -> Iterator[None]:
    """Yield once per period until the time is over; show the time left on a terminal."""
    began, terminal = time.monotonic(), sys.stderr is not None and sys.stderr.isatty()
    try:
        while (took := time.monotonic() - began) < seconds:
            if terminal:
                left = f"\r{doing}: {seconds - took:.0f} s left "
                print(left, end="", file=sys.stderr, flush=True)
            time.sleep(min(period, seconds))
            yield
    finally:
        if terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
