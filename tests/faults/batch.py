"""Rows of the matrix in one guest, one after the other."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.faults.matrix import ROWS, STALLED, Row
from tests.vm import Guest, GuestError, Result, debug, initramfs, modules
from tests.vm.functional import ALLOWED, LIBRARY, find_kernel

_HERE = Path(__file__).parent
_SHELL = ("faults.sh", "watch.sh")

# Seconds of load in a row. A row lasts longer if its faults take longer.
_LOAD = 2
# A driver reports injected faults, and a function warns if there is no memory for the files of a
# cgroup policy.
_INJECTED = (r"Call Trace:", r"cut here", r"WARNING: .* blkcg_policy_register\b")
_ROW_SECONDS = 600
_MANY_SECONDS = 1800
# A bug of QEMU before 8.1, not of the kernel, if CPUs run in parallel: see tests/vm/boot.py. If the
# row fails like this twice, something else is wrong.
_QEMU_FAULT = "Oops: int3"


def run_rows(
    series: str, rows: Iterable[Row], *, seed: int = 1, load: int = _LOAD, **more: object
) -> Result:
    """Boot a kernel and run the rows; `more` are arguments of the Guest.

    The output has "row NAME passed" for each row that passed, and the exit code is 0 if all did.
    Raises GuestError for reports of the kernel, but not for a row that failed.
    """
    rows = list(rows)
    kernel = find_kernel(series)
    injected = _INJECTED if any(row.injects for row in rows) else ()
    files = {path: _HERE / path for path in _SHELL} | {"lib.sh": LIBRARY}
    files |= {f"rows/{row.name}.sh": _text(row) for row in rows}
    files[".harness/nth"] = initramfs.static_program("nth", kernel, _HERE / "nth.c")
    files[".harness/visit"] = initramfs.static_program("visit", kernel, _HERE / "visit.c")
    guest = Guest(
        kernel,
        files=modules.build(kernel) | files,
        memory="3G" if kernel.headers else "2G",
        timeout=60 + sum((_MANY_SECONDS if row.many else _ROW_SECONDS) + load for row in rows),
        drives=[row.driver for row in rows if row.driver],
        allow=(*ALLOWED.get(series, ()), *injected),
        **more,
    )
    variables = f"ROWS='{' '.join(row.name for row in rows)}' SEED={seed} LOAD={load}\n"
    script = variables + (_HERE / "run.sh").read_text()
    try:
        return guest.run(script, check=False)
    except GuestError as error:
        if not guest.parallel or _QEMU_FAULT not in str(error):
            raise
        print(f"{error}\nthis is a fault of QEMU: see tests/vm/boot.py; once more")
        return guest.run(script, check=False)


def _text(row: Row) -> bytes:
    text = (_HERE / "rows" / f"{row.script}.sh").read_text()
    return (f"driver={row.driver}\n{text}" if row.driver else text).encode()


@dataclass(frozen=True)
class Batch:
    """The GUEST of a test module: one boot for all of its rows on a kernel.

    injects: the rows that inject faults, or all others, for which the kernel's reports of injected
    faults are not allowed. bounds: the rows about waiting times, or all others.
    """

    name: str
    injects: bool = False
    bounds: bool = False

    def rows(self, series: str) -> list[Row]:
        """Return the short rows for a stock kernel, all that it can run for one of our own."""
        ours = series in debug.CONFIGS
        rows = [row for row in ROWS if row.short or ours]
        if self.injects and series not in debug.INJECTS:
            return []
        return [
            row for row in rows if (row.injects, row.bounds) == (self.injects, self.bounds)
        ]

    def run(self, series: str) -> Result:
        """Run the rows on a kernel, after a stall that the detector has to find.

        The CPUs of a stock kernel take turns. Those of a debug kernel run in parallel, because they
        are always busy and taking turns would take far longer, unless the kernel looks for data
        races.
        """
        return run_rows(
            series,
            [*([] if self.injects or self.bounds else [STALLED]), *self.rows(series)],
            name=f"{self.name}-{series}",
            parallel=series in debug.CONFIGS and series not in debug.RACES,
        )
