"""Every row about waits passes: waits of groups, and for flushes, metadata, CPUs and tags."""

import pytest

from tests.faults.batch import Batch
from tests.vm import Result

pytestmark = [pytest.mark.guest, pytest.mark.one_kernel]

GUEST = Batch("bounds", bounds=True)


def test_row(result: Result, row: str) -> None:
    assert f"row {row} passed" in result.stdout, result.stdout
