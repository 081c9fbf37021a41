"""The harness: what it returns, what it catches, and that virtual time is reproducible."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.vm import Guest, GuestError, Result, SetupError, debug, kernels, reports
from tests.vm.functional import ALLOWED

REAL = """
expect 2 "$(nproc)" CPUs
expect hello "$(cat "$IN/deep/hello")"
fio --version >version
cg outer/inner
expect 0::/outer/inner "$(in_cg outer/inner cat /proc/self/cgroup)"
expect io "$(cat /sys/fs/cgroup/outer/inner/cgroup.controllers)"
expect_put EINVAL garbage /sys/fs/cgroup/outer/inner/io.max
expect_put ENOENT x /nowhere
[ -d /sys/kernel/tracing/events ] && [ -d /sys/kernel/debug/block ]
echo "WARNING: CPU: 0 PID: 1 at a test" >/dev/kmsg
echo "progress: 1/1"
(exit 7)
echo "not reached"
"""

VIRTUAL = """
echo "progress: 1/2"
modprobe null_blk gb=4 irqmode=2 completion_nsec=8000000 hw_queue_depth=32
scheduler nullb0 bfq
expect bfq "$(scheduler nullb0)"
cut -d ' ' -f 1 /proc/uptime >before
sleep 300
cut -d ' ' -f 1 /proc/uptime >after
mkdir logs
fio --name=job --filename=/dev/nullb0 --direct=1 --rw=randrw --bs=4k --runtime=3 --time_based \\
    --ioengine=io_uring --iodepth=8 --numjobs=2 --write_lat_log=logs/job --log_offset=1 \\
    --output=job.json --output-format=json --eta=never
cat /proc/sys/kernel/random/uuid /proc/interrupts /proc/timer_list >noise
echo "progress: 2/2"
exit 3
"""


@pytest.mark.guest
def test_real_clock() -> None:
    lines: list[str] = []
    guest = Guest(
        kernels.newest("6.12"),
        name="harness-real",
        files={"deep/hello": b"hello\n"},
        allow=["at a test"],
    )
    with pytest.raises(GuestError, match="exit code 7"):
        guest.run(REAL, on_line=lines.append)
    assert lines == ["progress: 1/1"]
    assert (guest.directory / "result" / "out" / "version").read_text().startswith("fio-")


@pytest.mark.guest
def test_virtual_clock_repeats_and_skips_idle_time() -> None:
    with ThreadPoolExecutor() as pool:
        one, two = pool.map(_virtual, ("harness-virtual-1", "harness-virtual-2"))
    assert one.exit_code == 3
    assert one.stdout.splitlines() == ["progress: 1/2", "progress: 2/2"]
    assert 300 <= float(one.text("after")) - float(one.text("before")) < 301
    assert one.seconds < 120
    assert len(one.json("job.json")["jobs"]) == 2
    files = _files(one)
    assert "logs/job_lat.2.log" in files
    assert files == _files(two)
    assert one.dmesg == two.dmesg


def _virtual(name: str) -> Result:
    return Guest(kernels.newest("6.12"), clock="virtual", name=name).run(VIRTUAL, check=False)


def _files(result: Result) -> dict[str, bytes]:
    return {
        str(path.relative_to(result.out)): path.read_bytes()
        for path in result.out.rglob("*")
        if path.is_file()
    }


@pytest.mark.guest
def test_crash_ends_the_guest_and_is_reported() -> None:
    guest = Guest(kernels.newest("6.1"), clock="virtual", name="harness-crash")
    with pytest.raises(GuestError, match="kernel report: .*Kernel panic"):
        guest.run("echo c >/proc/sysrq-trigger", check=False)


@pytest.mark.parametrize(
    "line",
    [
        "[   12.3] WARNING: CPU: 0 PID: 1 at block/blk-mq.c:1 blk_mq_run+0x1/0x2",
        "WARNING: possible circular locking dependency detected",
        "BUG: kernel NULL pointer dereference, address: 0000000000000008",
        "kernel BUG at mm/slub.c:1!",
        "BUG: sleeping function called from invalid context at a.c:1",
        "Oops: 0000 [#1] PREEMPT SMP",
        "general protection fault, probably for non-canonical address",
        "INFO: task fio:123 blocked for more than 30 seconds.",
        "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
        "rcu: INFO: rcu_preempt self-detected stall on CPU",
        "watchdog: BUG: soft lockup - CPU#0 stuck for 61s!",
        "UBSAN: shift-out-of-bounds in a.c:1:2",
        "BUG: KASAN: slab-use-after-free in htbs_dispatch+0x1/0x2",
        "kmemleak: Kernel memory leak detector disabled",
        "refcount_t: underflow; use-after-free.",
        "list_del corruption. prev->next should be a, but was b",
    ],
)
def test_reports_are_recognised(line: str) -> None:
    assert reports.is_report(line)
    assert not reports.is_report(line, allow=[r".*"])


@pytest.mark.parametrize(
    ("functions", "ours"),
    [
        ("__dentry_kill / dput", False),
        ("part_stat_read_all+0x15b/0x210", False),
        ("htbs_limit_tag_depth [htbs] / htbs_policy_arrive [htbs]", True),
        ("blk_mq_sched_restart / __htbs_trace_tag [htbs]", True),
        ("rb_erase / rb_next", True),
        ("__rb_insert_augmented / rb_first", True),
    ],
)
def test_races_of_others_are_allowed(functions: str, *, ours: bool) -> None:
    assert reports.is_report(f"BUG: KCSAN: data-race in {functions}", ALLOWED["kcsan"]) == ours


def test_leaks_but_for_the_kernels_own() -> None:
    leak = """unreferenced object 0xffff88810ce3c400 (size 512):
  comm "put", pid 123, jiffies 4294897791
  backtrace (crc 1ce5a36e):
    __kmalloc_cache_node_noprof+0x21d/0x390
    {}+0xa0/0x590
"""
    known, ours = leak.format("blk_throtl_init"), leak.format("htbs_init_sched")
    assert reports.leaks("") == reports.leaks(known) == []
    assert reports.leaks(known + ours + known) == [ours]
    name = leak.format("kobject_init_and_add") + "    sysfs_slab_add+0x190/0x1e0\n"
    other = leak.format("kobject_init_and_add") + "    htbs_init+0x156/0x1000\n"
    assert reports.leaks(name + other + leak.format("sysfs_slab_add")) == [
        other, leak.format("sysfs_slab_add")
    ]  # fmt: skip


def test_taint() -> None:
    assert reports.bad_taint(1 << 12 | 1 << 13) == ""
    assert reports.bad_taint(1 << 12 | 1 << 9 | 1 << 7) == "DW"


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ("CONFIG_A=y", "CONFIG_A=m"),
        ("CONFIG_A=y", "# CONFIG_A is not set"),
        ("CONFIG_A=y", "CONFIG_AA=y"),
        ("# CONFIG_A is not set", "CONFIG_A=y"),
    ],
)
def test_option_that_did_not_take_is_named(wanted: str, got: str) -> None:
    config = "# a comment\nCONFIG_B=y\n"
    debug.check(config + wanted, config + wanted)
    with pytest.raises(SetupError, match=wanted):
        debug.check(config + wanted, config + got)


@pytest.mark.parametrize(
    ("version", "series", "flavour", "age"),
    [
        ("6.12.117+deb12-amd64", "6.12", "amd64", (6, 12, 117)),
        ("6.1.0-56-cloud-amd64", "6.1", "cloud-amd64", (6, 1, 0, 56)),
        ("6.1.0-56-rt-amd64", "6.1", "rt-amd64", (6, 1, 0, 56)),
        ("6.12.117-debug", "6.12", "debug", (6, 12, 117)),
    ],
)
def test_versions(version: str, series: str, flavour: str, age: tuple[int, ...]) -> None:
    kernel = kernels.Kernel(version, Path("/nowhere"))
    assert (kernel.series, kernel.flavour, kernel.age()) == (series, flavour, age)
