"""What the functional tests share.

A module says what to boot:

    GUEST = Boot("switch", clock="real")

and its tests take `result`, what scripts/switch.sh left behind on each kernel series.
"""

import pytest

from tests.vm import Result, queue
from tests.vm.functional import SERIES


@pytest.fixture(params=SERIES)
def series(request: pytest.FixtureRequest) -> str:
    """The series of the guest's kernel."""
    return request.param


@pytest.fixture
def result(series: str, request: pytest.FixtureRequest) -> Result:
    """What the module's guest left behind."""
    return queue.start(request.session).result(request.module.GUEST, series)
