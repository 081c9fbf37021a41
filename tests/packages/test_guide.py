"""From the packages to a reservation that is kept, by the guide's commands, and over a reboot.

On Debian 12; tests/packages/test_packages.py does more, on both.
"""

import shutil

import pytest

from tests.packages import image
from tests.packages.guest import boot
from tests.packages.guide import FILES, GUIDE, check, fetch, kept, lay_out, steps

pytestmark = pytest.mark.guest


class Guide:
    """A whole Debian, booted twice."""

    only = (image.GUIDE.name,)

    def run(self, series: str) -> tuple[dict[str, str], dict[str, str]]:
        """What the steps said, before the reboot and after it."""
        directory = lay_out(image.GUIDE, "guide-run")
        kver = fetch(directory, 0)
        before = boot(directory, kver, "prepare", "guide", "show", files=FILES)
        after = boot(directory, kver, "show")
        shutil.rmtree(directory)
        return steps(before), steps(after)


GUEST = Guide()


@pytest.mark.parametrize("script", GUIDE, ids=lambda script: script.name)
def test_guide(result, script):
    before, _ = result
    check(script, before[script.name])


def test_the_reservation_is_kept_beside_a_backup(result):
    before, _ = result
    assert kept(before["show"])


def test_the_reservation_is_kept_after_a_reboot(result):
    _, after = result
    assert kept(after["show"])
