"""The core's lines of code: scripts/core-size."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_design_has_the_table():
    """Each file of the core has a subject, and docs/design.md has the line counts of this tree."""
    done = subprocess.run([ROOT / "scripts/core-size"], capture_output=True, text=True, check=True)
    assert done.stdout in (ROOT / "docs/design.md").read_text(), "run scripts/core-size"
