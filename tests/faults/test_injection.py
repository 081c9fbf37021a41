"""Every row of the matrix that injects faults passes, on a kernel with fault injection."""

import pytest

from tests.faults.batch import Batch
from tests.vm import Result

pytestmark = pytest.mark.guest

GUEST = Batch("injection", injects=True)


def test_row(result: Result, row: str) -> None:
    assert f"row {row} passed" in result.stdout, result.stdout
