"""The censuses in the history of the page: `python -m results.census.before`.

A seed is drawn once, before its runs, and its page is kept whatever it says. The scheduler and the
definition of *kept* changed meanwhile; each row is what the page said at that time.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

DIRECTORY = Path(__file__).parent
BEFORE = DIRECTORY / "before.json"
PAGE = DIRECTORY.parent / "census.md"

_SEED = re.compile(r"SEED=(\d+)")
_KEPT = re.compile(r"Of (\d+) sets of reservations each scheduler keeps: HTBS (\d+)")


def rows() -> Iterator[dict]:
    """Return the result in each version of the page, the oldest first, without repeats."""
    seen = set()
    log = _git("log", "--reverse", "--format=%h %cs", "--", str(PAGE))
    for line in log.splitlines():
        commit, day = line.split()
        page = " ".join(_git("show", f"{commit}:./{PAGE.name}").split())
        seed, kept = _SEED.search(page), _KEPT.search(page)
        if not seed or not kept:
            continue
        row = {"seed": int(seed[1]), "kept": int(kept[2]), "of": int(kept[1])}
        if tuple(row.values()) not in seen:
            seen.add(tuple(row.values()))
            yield {"commit": commit, "day": day, **row}


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=PAGE.parent, check=True, capture_output=True, text=True
    ).stdout


if __name__ == "__main__":
    BEFORE.write_text(json.dumps(list(rows()), indent=1) + "\n")
