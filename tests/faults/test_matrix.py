"""Every row of the matrix that belongs to the kernel passes."""

import pytest

from tests.faults.batch import Batch
from tests.vm import Result

pytestmark = pytest.mark.guest

GUEST = Batch("matrix")


def test_row(result: Result, row: str) -> None:
    assert f"row {row} passed" in result.stdout, result.stdout
