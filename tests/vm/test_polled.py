"""Polled requests hold tags that no other request can use until the requests are polled."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("polled")


def test_reads_do_not_wait_for_polled_requests(result: Result) -> None:
    """The task that polls was stopped while all of its requests were in flight."""
    assert "reads do not wait for polled requests" in result.stdout
