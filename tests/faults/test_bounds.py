"""Every row about what may be kept waiting passes: groups, flushes, metadata, CPUs, tags."""

import pytest

from tests.faults.batch import Batch
from tests.vm import Result

pytestmark = pytest.mark.guest

GUEST = Batch("bounds", bounds=True)


def test_row(result: Result, row: str) -> None:
    assert f"row {row} passed" in result.stdout, result.stdout
