"""Random writes to io.htbs and every tunable in a guest; abi.c knows the correct results."""

from tests.vm.functional import Boot


def boot(seed: int, count: int) -> Boot:
    """Return the guest that does `count` writes."""
    return Boot(
        "writes",
        files=(("writes-how", f"{seed} {count}\n"),),
        sources="writes",
        timeout=300 + count / 100,
    )
