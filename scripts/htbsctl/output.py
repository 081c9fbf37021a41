"""Tables and JSON."""

import json
from collections.abc import Sequence

NOTHING = "-"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Columns as wide as what is in them; right: those set to the right."""
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
    """JSON, two spaces deep."""
    return json.dumps(value, indent=2)
