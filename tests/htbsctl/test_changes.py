"""Changes are made completely or not at all, and are found by any name that the file has."""

import json

import pytest

from htbsctl.__main__ import main
from htbsctl.failure import Failure
from htbsctl.store import FILE, Store

APP = "/sys/fs/cgroup/app/io.htbs"


def scheduler(host, disk):
    return host.read(f"/sys/block/{disk}/queue/scheduler").strip()


def run(host, code, *words):
    assert main(list(words), host) == code


@pytest.fixture
def array(host):
    """md0 on sda and sdb, neither of them on HTBS; its queue has only bios."""
    for disk in ("sda", "sdb"):
        host.put(f"/sys/block/{disk}/queue/scheduler", "none [mq-deadline] htbs\n")
        host.put(f"/sys/block/{disk}/queue/iosched/capacity_bw", "0\n")
        host.link(f"/sys/devices/md0/slaves/{disk}", f"/sys/devices/{disk}")
    host.disk("md0", "9:0", "none")
    return host


def test_all_disks_of_an_array_or_none(array):
    array.refuses.add("/sys/block/sdb/queue/scheduler htbs")
    run(array, 1, "enable", "md0")
    assert scheduler(array, "sda") == "mq-deadline"
    assert not array.exists(FILE) or Store(array).devices() == {}
    array.refuses.clear()
    run(array, 0, "enable", "md0")
    assert scheduler(array, "sda") == scheduler(array, "sdb") == "htbs"
    assert set(Store(array).devices()) == {"sda", "sdb"}


def test_a_change_of_one_disk_of_a_line_keeps_the_others(array):
    """A file that was edited by hand may have one line for all disks of an array."""
    text = "device md0 nr_requests=128\nreserve /app md0 bw=4M burst=64K latency=1s\n"
    array.put(str(FILE), text)
    run(array, 0, "enable", "md0", "--capacity-bw", "5000")
    attributes = {"nr_requests": "128", "capacity_bw": "5000"}
    assert Store(array).devices() == {"sda": attributes, "sdb": attributes}
    array.put(str(FILE), text)
    array.put("/sys/block/sdb/queue/scheduler", "none mq-deadline [htbs]\n")
    run(array, 0, "disable", "sdb")
    run(array, 3, "release", "/app", "sdb")
    assert array.read(FILE) == text.replace("md0", "sda")
    array.put("/sys/block/sdb/queue/scheduler", "none mq-deadline [htbs]\n")
    array.put(str(FILE), text)
    array.group("/app")
    run(array, 0, "reserve", "/app", "sdb", "--bw", "8M")
    found = {device: each.bw >> 20 for (_, device), each in Store(array).reservations().items()}
    assert found == {"sda": 4, "sdb": 8}


def test_a_refused_attribute_takes_back_the_others(host):
    host.refuses.add("/sys/block/sdb/queue/nr_requests 100000")
    run(host, 1, "enable", "sdb", "--capacity-bw", "5000", "--nr-requests", "100000")
    assert host.read("/sys/block/sdb/queue/iosched/capacity_bw") == "0\n"
    assert scheduler(host, "sdb") == "none mq-deadline [htbs]"


def test_attributes_have_units(host, capsys):
    run(host, 0, "enable", "sdb", "--capacity-bw", "20M", "--capacity-request", "64K")
    attributes = {"capacity_bw": "20971520", "capacity_request": "65536"}
    assert Store(host).devices() == {"sdb": attributes}
    assert host.read("/sys/block/sdb/queue/iosched/capacity_bw") == "20971520\n"
    capsys.readouterr()
    for words in (("--capacity-bw", "20Mb"), ("--nr-requests", "64K"), ("--nr-requests", "-1")):
        run(host, 2, "enable", "sdb", "=".join(words))
        assert capsys.readouterr().err.startswith(f"htbsctl: {words[1]!r} ")


def test_attributes_of_before_are_kept(host):
    run(host, 0, "enable", "sdb", "--nr-requests", "128")
    run(host, 0, "enable", "sdb", "--capacity-bw", "5000")
    assert Store(host).devices() == {"sdb": {"nr_requests": "128", "capacity_bw": "5000"}}


def test_how_many_requests_may_be_late_is_kept(host):
    run(host, 0, "enable", "sdb", "--late-one-in", "10000", "--late-one-in-writes", "1000")
    written = {name: host.read(f"/sys/block/sdb/queue/iosched/{name}")
               for name in ("late_one_in", "late_one_in_writes")}
    assert written == {"late_one_in": "10000\n", "late_one_in_writes": "1000\n"}
    assert Store(host).devices() == {"sdb": {name: text.strip() for name, text in written.items()}}


def test_the_default_reservation_makes_room_for_the_capacity(host, monkeypatch):
    written = []
    monkeypatch.setattr(host, "write", lambda file, *_: written.append(file.name))
    run(host, 0, "enable", "sdb", "--capacity-bw", "160000", "--default-bw", "65536")
    assert written == ["default_bw", "capacity_bw"]


@pytest.fixture
def admits(host, monkeypatch):
    """A capacity is set, and the kernel refuses a default reservation that exceeds it."""
    iosched = "/sys/block/sdb/queue/iosched"
    host.put(f"{iosched}/default_bw", "65536\n")
    host.put(f"{iosched}/capacity_bw", "200000\n")
    put = host._put

    def test(name, text, *more):
        files = ("default_bw", "capacity_bw")
        found = {f"{iosched}/{file}": int(host.read(f"{iosched}/{file}")) for file in files}
        default, capacity = (found | {str(name): int(text)}).values()
        if capacity and default > capacity:
            raise Failure(f"{name}: ENOSPC")
        put(name, text, *more)

    monkeypatch.setattr(host, "_put", test)
    return lambda: [int(host.read(f"{iosched}/{file}")) for file in ("default_bw", "capacity_bw")]


def test_values_that_fit_together_are_not_refused(host, admits):
    """Both rise or both fall: a single new value would not fit the old value of the other."""
    for default, capacity in ((1 << 20, 40 << 20), (4096, 8192)):
        words = "--default-bw", str(default), "--capacity-bw", str(capacity)
        run(host, 0, "enable", "sdb", *words)
        assert admits() == [default, capacity]
    run(host, 1, "enable", "sdb", "--default-bw", "9000", "--capacity-bw", "8500")
    assert admits() == [4096, 8192]


def test_disable_finds_another_name(host):
    host.link("/dev/disk/by-id/wwn-1", "/sys/devices/sdb")
    host.link("/dev/disk/by-id/ata-1", "/sys/devices/sdb")
    host.put(str(FILE), "device 8:16\ndevice sdb nr_requests=64\ndevice sda\n")
    run(host, 0, "disable", "sdb")
    assert set(Store(host).devices()) == {"sda"}


def test_release_finds_another_name(host):
    host.group("/app", "8:16 bw=4194304 burst=65536 latency=50000\n")
    host.put(str(FILE), "reserve app 8:16 bw=4M\nreserve /app sdb bw=8M\nreserve app sda bw=1M\n")
    run(host, 0, "release", "/sys/fs/cgroup/app", "sdb")
    assert host.read(APP) == "8:16 none\n"
    assert set(Store(host).reservations()) == {("app", "sda")}


def test_a_disk_that_is_off_htbs_gets_its_reservations_back_later(host, capsys):
    """The kernel stores it, but neither shows it nor accepts a write."""
    host.put(str(FILE), "reserve app sda bw=4M\nreserve gone.service sda bw=4M\n")
    run(host, 3, "release", "app", "sda", "--dry-run")
    run(host, 3, "release", "app", "sda")
    assert capsys.readouterr().err.splitlines()[-1] == (
        "htbsctl: sda is not on HTBS, so the kernel still stores the reservation; run release again"
        " after htbsctl enable"
    )
    run(host, 0, "release", "gone.service", "sda")
    assert Store(host).reservations() == {}


def test_a_device_that_is_gone_is_forgotten(host):
    host.put(str(FILE), "device sdz\nreserve gone sdz bw=4M\n")
    run(host, 0, "disable", "sdz")
    run(host, 0, "release", "gone", "sdz")
    assert Store(host).devices() == Store(host).reservations() == {}
    run(host, 1, "disable", "sdz")


def test_a_reservation_replaces_that_of_another_name(host):
    host.put(str(FILE), "reserve app 8:16 bw=4M burst=64K latency=1s\n")
    run(host, 0, "reserve", "/app", "sdb", "--bw", "8M")
    [(name, promised)] = Store(host).reservations().items()
    assert (name, promised.bw) == (("/sys/fs/cgroup/app", "sdb"), 8 << 20)


def stopped(host, unit, active):
    """Let systemd report a unit without a process."""
    host.answers[f"systemctl show --property=LoadState,ActiveState,ControlGroup {unit}"] = (
        f"LoadState=loaded\nActiveState={active}\nControlGroup=\n"
    )


def test_a_unit_that_is_up_without_a_process_needs_attention(host, capsys):
    stopped(host, "nfs-server.service", "active")
    run(host, 3, "reserve", "nfs-server.service", "sdb", "--bw", "4M")
    said = capsys.readouterr().err
    assert "nfs-server.service is active, but other units or kernel threads do" in said
    assert ("nfs-server.service", "sdb") in Store(host).reservations()
    run(host, 1, "reserve", "nfs-server.service", "sdb", "--bw", "4M", "--now")


def test_a_key_for_a_unit_without_a_process_is_added_to_the_kept_ones(host, capsys):
    stopped(host, "db.service", "inactive")
    run(host, 2, "reserve", "db.service", "sdb", "--weight", "200")
    assert "needs a bandwidth or operations" in capsys.readouterr().err
    host.put(str(FILE), "reserve db.service sdb bw=4M burst=64K latency=50ms\n")
    run(host, 0, "reserve", "db.service", "sdb", "--weight", "200")
    assert host.read(FILE) == "reserve db.service sdb bw=4M burst=64K latency=50ms weight=200\n"


def test_a_key_of_a_kept_reservation_not_in_force_applies_all_keys(host, capsys):
    """For example, the group was created again, or another command removed it."""
    kept = "reserve /sys/fs/cgroup/app sdb bw=800K burst=64K latency=100ms max=20M\n"
    whole = "8:16 bw=819200 max=20971520 iops=max weight=default burst=65536 latency=100000"
    host.put(str(FILE), kept.replace("100ms", "500ms"))
    words = "reserve", "/app", "sdb", "--latency", "100ms"
    run(host, 0, *words, "--dry-run")
    assert f"would write {whole!r}" in capsys.readouterr().out
    run(host, 0, *words)
    assert (host.read(FILE), host.read(APP)) == (kept, f"{whole}\n")
    host.group("/app", "8:16 bw=819200 burst=65536 latency=500000 max=20971520\n")
    run(host, 0, *words)
    assert host.read(APP) == "8:16 latency=100000\n"


def test_a_max_equal_to_the_reservation(host, capsys):
    """With both, bytes count; what counts is the state in the kernel."""
    for words in (("--bw", "4M", "--max", "4M"), ("--iops", "1", "--max", "4K"),
                  ("--bw", "4K", "--iops", "100", "--max", "4K")):
        run(host, 0, "reserve", "/app", "sdb", *words)
        host.group("/app")
        host.path(FILE).unlink()
    for code, bandwidth in ((0, "8M"), (2, "9M")):
        host.group("/app", "8:16 bw=4194304 burst=65536 latency=50000 max=8388608\n")
        run(host, code, "reserve", "/app", "sdb", "--bw", bandwidth)
    assert "max 8M is less than what is reserved: it must be 9M" in capsys.readouterr().err


def test_an_unreadable_file_is_not_replaced(host, capsys):
    host.path(FILE).mkdir(parents=True)
    run(host, 1, "enable", "sdb")
    assert "cannot read /etc/htbs/htbs.conf: EISDIR" in capsys.readouterr().err


def test_bytes_that_are_no_text_stay(host):
    host.put(str(FILE), "# caf\udce9\n")
    run(host, 0, "enable", "sdb")
    assert host.path(FILE).read_bytes() == b"# caf\xe9\ndevice sdb\n"


def test_a_group_with_a_name_that_is_no_text(host, capsys):
    host.group("/b\udcff")
    run(host, 0, "reserve", "b\udcff", "sdb", "--bw", "4M")
    assert "/sys/fs/cgroup/b\\udcff: bw 4 MiB/s" in capsys.readouterr().out
    assert host.read("/sys/fs/cgroup/b\udcff/io.htbs") == "8:16 bw=4194304\n"
    assert host.path(FILE).read_bytes().endswith(
        b"reserve '/sys/fs/cgroup/b\xff' sdb bw=4M burst=1M latency=1s\n"
    )
    run(host, 0, "release", "b\udcff", "sdb")
    assert Store(host).reservations() == {}


def test_apply_writes_nothing_to_etc(host):
    """/etc may be on a read-only file system without an htbs.conf."""
    run(host, 0, "apply")
    assert not host.exists("/etc")


def test_values_that_the_kernel_fills_in_are_not_written_again(host):
    host.put(str(FILE), "reserve app sdb bw=4M\ndevice sdb nr_requests=064\n")
    host.group("/app", "8:16 bw=4194304 burst=1048576 latency=1000000\n")
    host.refuses = {f"{APP} 8:16 bw=4194304 max=max iops=max weight=default"}
    run(host, 0, "apply")


def test_a_disk_that_is_not_on_htbs_is_no_failure(host):
    host.put(str(FILE), "reserve app sda bw=4M\n")
    run(host, 0, "apply")


ENABLE = "systemctl enable --quiet --now htbs.service"


def htbs_service(host, enabled, active):
    """Let systemd report htbs.service, and allow to start it."""
    host.answers["systemctl show --property=LoadState,UnitFileState,ActiveState htbs.service"] = (
        f"LoadState=loaded\nActiveState={active}\nUnitFileState={enabled}\n"
    )
    host.answers[ENABLE] = ""


def test_a_service_that_does_not_answer_leaves_what_was_done(host, capsys, monkeypatch):
    """On a busy host systemd may time out while it starts the service; the change stays."""
    htbs_service(host, "enabled", "inactive")
    run(host, 0, "enable", "sdb")
    assert host.patience[ENABLE] > host.patience[next(iter(host.patience))]
    real = host.run

    def hangs(words, patience):
        if " ".join(words) == ENABLE:
            raise Failure("no answer")
        return real(words, patience)

    monkeypatch.setattr(host, "run", hangs)
    run(host, 3, "enable", "sda")
    assert "htbs.service failed to start" in capsys.readouterr().err
    assert scheduler(host, "sda") == "htbs"


def test_a_service_that_is_up_is_left(host):
    """systemctl enable would reload all units each time."""
    htbs_service(host, "enabled", "active")
    run(host, 0, "enable", "sdb")
    assert ENABLE not in host.commands
    for enabled, active in (("enabled", "failed"), ("disabled", "active")):
        host.commands.clear()
        htbs_service(host, enabled, active)
        run(host, 0, "enable", "sdb")
        assert ENABLE in host.commands


def answer(host, capsys, *words):
    capsys.readouterr()
    run(host, 0, *words, "--json")
    return json.loads(capsys.readouterr().out)


def test_enable_tells_whether_a_disk_changes(host, capsys):
    words = "enable", "sdb", "--nr-requests", "128"
    assert answer(host, capsys, *words, "--dry-run") == {"changed": True, "devices": ["sdb"]}
    assert not host.exists(FILE)
    assert host.read("/sys/block/sdb/queue/nr_requests") == "64\n"
    assert answer(host, capsys, *words)["changed"]
    assert not answer(host, capsys, *words)["changed"]
    host.put("/sys/block/sdb/queue/nr_requests", "64\n")
    assert answer(host, capsys, *words)["changed"]


def test_reserve_tells_whether_a_reservation_changes(host, capsys):
    words = "reserve", "app", "sdb", "--bw", "4M", "--burst", "64K", "--latency", "50ms"
    changed = {"changed": True, "kept": [{"target": "/sys/fs/cgroup/app", "device": "sdb"}]}
    host.group("/app")
    before = host.read(APP)
    assert answer(host, capsys, *words, "--dry-run") == changed
    assert (host.exists(FILE), host.read(APP)) == (False, before)
    assert answer(host, capsys, *words) == changed
    host.put(APP, "8:16 bw=4194304 burst=65536 latency=50000\n")
    assert answer(host, capsys, *words) == changed | {"changed": False}
    assert answer(host, capsys, *words[:4], "4096K") == changed | {"changed": False}
    # It is kept, but not in force.
    host.put(APP, "8:16 bw=8388608 burst=65536 latency=50000\n")
    assert answer(host, capsys, *words, "--dry-run") == changed


@pytest.mark.parametrize("words", [("disable", "sdb"), ("release", "/app", "sdb")])
def test_a_dry_run_writes_nothing(host, words):
    """It writes no lock either, so that no permission to write is needed."""
    host.group("/app", "8:16 bw=4194304 burst=65536 latency=50000\n")
    run(host, 0, *words, "--dry-run")
    assert not host.exists(FILE.parent)


def test_lines_stay_in_their_order(host):
    text = "# ours\nreserve /sys/fs/cgroup/app sdb bw=4M burst=64K latency=1s\ndevice sda\n"
    host.put(str(FILE), text)
    host.group("/app")
    run(host, 0, "reserve", "/app", "sdb", "--bw", "8M")
    assert host.read(FILE) == text.replace("4M", "8M")


def test_apply_tells_what_is_kept(host, capsys):
    host.put(str(FILE), "device sdb nr_requests=64\nreserve app sdb bw=4M latency=1s\n")
    assert answer(host, capsys, "apply", "--check") == {
        "devices": [{"device": "sdb", "nr_requests": "64"}],
        "reservations": [{"target": "app", "device": "sdb", "bw": 4194304, "latency": 1000000}],
    }
