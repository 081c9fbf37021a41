"""Back, front, gap, plug and discard merges: none across groups, fewer if no device seeks."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("merge", programs=("addpart",))


def test_merges(result: Result) -> None:
    assert result.exit_code == 0
