"""Flushes, FUA, passthrough, requeued requests, write-back: no request is lost or misplaced."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("requests", modules=("sd_mod", "sg", "ext4", "crc32c_generic"))


def test_requests(result: Result) -> None:
    assert result.exit_code == 0
