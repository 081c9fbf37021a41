"""docs/testing.md has the rows of the matrix; every row has its script."""

import re
from pathlib import Path

from tests.faults.matrix import ROWS, STALLED
from tests.vm.kernels import REPO


def test_table_lists_the_matrix() -> None:
    text = (REPO / "docs/testing.md").read_text()
    rows = re.findall(r"^\| `(\w[\w-]*)` \| (.*?) \| (.*?) \| `(make .*?)` \|$", text, re.MULTILINE)
    assert rows == [(row.name, row.what, row.promise, row.command) for row in ROWS]


def test_scripts_and_rows_agree() -> None:
    scripts = {path.stem for path in (Path(__file__).parent / "rows").glob("*.sh")}
    assert scripts == {row.script for row in (*ROWS, STALLED)}
