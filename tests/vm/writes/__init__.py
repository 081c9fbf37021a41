"""Random writes to io.htbs and every tunable: the guest that does them; abi.c knows the answers."""

from tests.vm.functional import Boot


def boot(seed: int, count: int) -> Boot:
    """The guest that does so many writes."""
    return Boot(
        "writes",
        files=(("writes-how", f"{seed} {count}\n"),),
        sources="writes",
        timeout=300 + count / 100,
    )
