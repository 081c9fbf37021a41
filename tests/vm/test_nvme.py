"""HTBS on an NVMe disk: data, discards of several ranges, and a controller that is removed."""

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = pytest.mark.guest

GUEST = Boot("nvme", modules=("nvme-tcp", "nvmet-tcp"), programs=("addpart",))


def test_nvme(result: Result) -> None:
    assert result.exit_code == 0
