"""Boot a stock kernel under QEMU's software emulation, run a script in it, return its files.

There are two clocks. "real" has two CPUs, wall-clock time and the host's programs and files (by 9p;
writes stay in memory); it is for functional tests. "virtual" has one CPU, an instruction takes a
nanosecond and idle time is skipped: the same script gives the same digits on any machine, loaded or
not, and touches nothing but the guest's memory while it runs; it is for measurements.

    from tests.vm import Guest, kernels, modules

    kernel = kernels.newest("6.12")
    guest = Guest(kernel, clock="virtual", files=modules.build(kernel), name="demo")
    result = guest.run("load simdisk; fio … --output=fio.json", on_line=print)
    result.json("fio.json")

The script is run by bash (real) or busybox's sh (virtual) with -e, after guest.sh, whose functions
it can use. It starts in $OUT: all files that it leaves there are returned. $IN has `files`.
"""

from tests.vm.guest import Guest, GuestError, Result
from tests.vm.kernels import SetupError

__all__ = ["Guest", "GuestError", "Result", "SetupError"]
