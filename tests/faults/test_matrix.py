"""Every row of the matrix that injects no faults passes; a stalled disk is found."""

import re

import pytest

from tests.faults.batch import Batch
from tests.vm import Result

pytestmark = pytest.mark.guest

GUEST = Batch("matrix")


def test_row(result: Result, row: str) -> None:
    assert f"row {row} passed" in result.stdout, result.stdout


def test_stall_is_found(result: Result) -> None:
    assert re.search(r"row stalled\nFAIL: stalled: sd\w has requests and is idle", result.stdout)
    assert "row stalled passed" not in result.stdout
