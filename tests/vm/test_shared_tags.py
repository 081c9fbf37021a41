"""A disk uses the tags that its driver has at present, even if another queue resized them."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("shared-tags")


def test_tags_that_another_disk_resized(result: Result) -> None:
    assert "the tags there are now are used" in result.stdout
