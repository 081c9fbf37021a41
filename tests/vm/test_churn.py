"""Cgroups, tags, tunables, CPUs, hardware queues and disks come and go under load."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("churn", clock="real")


def test_changes_under_load(result: Result) -> None:
    assert result.exit_code == 0
