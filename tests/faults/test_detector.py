"""The stall detector finds a stall, and says where."""

import pytest

from tests.faults.batch import run_rows
from tests.faults.matrix import Row


@pytest.mark.guest
def test_stall_is_found() -> None:
    result = run_rows("6.12", [Row("stalled", "", "")], name="detector")
    assert result.exit_code != 0
    assert "stalled: sda has requests and is idle" in result.stdout
    assert "row stalled passed" not in result.stdout
