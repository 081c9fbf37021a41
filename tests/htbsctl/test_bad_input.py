"""Each command with wrong input: one line names the remedy, and nothing is changed."""

import errno
import shutil
from pathlib import Path

import pytest

from htbsctl.__main__ import main
from htbsctl.store import FILE, LOCK

# Each command that names a device or a target.
COMMANDS = {
    "status": "status {disk}",
    "enable": "enable {disk} --nr-requests 128",
    "disable": "disable {disk}",
    "reserve": "reserve {group} {disk} --bw 4M --latency 10ms",
    "release": "release {group} {disk}",
    "check": "check {disk}",
    "calibrate": "calibrate {disk} --seconds 1",
    "fit": "fit {group} {disk} --seconds 0.1",
    "top": "top {disk} --once --interval 0.1",
    "explain": "explain {group} {disk} --seconds 0.1",
    "trace": "trace {disk} --seconds 0.1",
}
WITH_GROUP = [name for name, line in COMMANDS.items() if "{group}" in line]
NEED_HTBS = ("reserve", "check", "fit", "top", "explain")
WRITE = ("enable", "disable", "reserve", "release")


def words(name, disk="sdb", group="app"):
    return COMMANDS[name].format(disk=disk, group=group).split()


def everything(host):
    """Return all files and their content, except for the lock of the kept state."""
    return {
        path: path.read_bytes()
        for path in host.root.rglob("*")
        if path.is_file() and path.name != LOCK.name
    }


@pytest.fixture
def refused(host, capsys):
    """A command is refused with one line and no change; it may echo how it understood its input."""

    def run(line, codes=(1,)):
        before = everything(host)
        assert main(line, host) in codes
        said = capsys.readouterr()
        assert said.err.startswith("htbsctl: ")
        assert said.err.count("\n") == 1
        assert "Traceback" not in said.err
        assert everything(host) == before
        what, _, remedy = said.err[len("htbsctl: ") :].rstrip("\n").rpartition(": ")
        assert what
        assert remedy
        return said.err

    return run


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("disk", ["sdz", "/dev/sdz", "/mnt/nothing", "9:99", ".", "app"])
def test_device_that_does_not_exist(refused, name, disk):
    assert disk in refused(words(name, disk=disk))


@pytest.mark.parametrize("name", COMMANDS)
def test_device_without_a_name(refused, name):
    line = [word.replace("sdb", "") for word in words(name)]
    assert "'' is not a device: name a disk" in refused(line, codes=(2,))


@pytest.mark.parametrize("name", COMMANDS)
def test_current_directory_that_was_deleted(host, refused, monkeypatch, tmp_path, name):
    """A command that does not need it works as elsewhere."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    said = refused(words(name, disk="./a"))
    assert "cannot find ./a: ENOENT: the current directory was deleted, cd to" in said
    assert "/dev/sdz: no such device" in refused(words(name, disk="/dev/sdz"))


@pytest.mark.parametrize("name", NEED_HTBS)
def test_device_that_is_not_on_htbs(refused, name):
    assert "htbsctl enable" in refused(words(name, disk="sda"))


@pytest.mark.parametrize("name", WITH_GROUP)
@pytest.mark.parametrize("group", ["no", "/no", "no.service", "../..", "/sys/fs/cgroup/no"])
def test_group_that_does_not_exist(refused, name, group):
    refused(words(name, group=group))


@pytest.mark.parametrize("name", WITH_GROUP)
def test_group_without_a_name(refused, name):
    line = [word.replace("app", "") for word in words(name)]
    assert "'' is not a target: name a cgroup, unit" in refused(line, codes=(2,))


@pytest.mark.parametrize("name", WITH_GROUP)
def test_cgroup_v1(host, refused, name):
    line = "30 23 0:26 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n"
    host.put("/proc/self/mountinfo", line)
    assert "cgroup v1" in refused(words(name))


@pytest.mark.parametrize("name", ["reserve", "fit"])
def test_no_module(host, refused, name):
    host.path("/sys/fs/cgroup/app/io.htbs").unlink()
    assert "htbs" in refused(words(name))


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize("number", [errno.EACCES, errno.ENODEV, errno.ENOSPC, errno.EBUSY])
def test_kernel_refuses(host, refused, monkeypatch, name, number):
    """For example without root, or if the disk or the cgroup disappears in between."""
    host.group("/app", "8:16 bw=1048576 burst=65536 latency=50000\n")
    put = host._put

    def fails(file, text, how, remedies):
        if str(file).startswith("/sys"):
            raise host.failure("write", file, OSError(number, ""), text, remedies)
        put(file, text, how, remedies)

    monkeypatch.setattr(host, "_put", fails)
    assert errno.errorcode[number] in refused(words(name))


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize("first", ["mkdir", "open"])
def test_etc_is_read_only(host, refused, monkeypatch, name, first):
    """For example on an image, with or without /etc/htbs."""
    host.group("/app", "8:16 bw=1048576 burst=65536 latency=50000\n")
    if first == "open":
        host.path(FILE.parent).mkdir(parents=True)
    for function in ("unlink", first):
        real = getattr(Path, function)

        def fails(path, *args, real=real, **keys):
            if str(path).endswith(("/etc/htbs", "/htbs.conf.new")):
                raise OSError(errno.EROFS, "")
            return real(path, *args, **keys)

        monkeypatch.setattr(Path, function, fails)
    assert "EROFS: make /etc/htbs writable, or use enable and" in refused(words(name))


@pytest.mark.parametrize("name", ["reserve", "release"])
def test_group_is_deleted_meanwhile(host, capsys, monkeypatch, name):
    host.group("/app", "8:16 bw=1048576 burst=65536 latency=50000\n")
    put = host._put

    def deleted(file, text, how, remedies):
        if str(file).startswith("/sys"):
            shutil.rmtree(host.path("/sys/fs/cgroup/app"), ignore_errors=True)
        put(file, text, how, remedies)

    monkeypatch.setattr(host, "_put", deleted)
    assert main(words(name), host) == 1
    assert "/sys/fs/cgroup/app/io.htbs: ENOENT: " in capsys.readouterr().err
    assert not host.exists(FILE) or "reserve" not in host.read(FILE)


@pytest.mark.parametrize(
    "text",
    ["", "lots", "400Mb", "400mb", "1e3", "-4M", "nan", "inf", "1.5.2M", "0x10", "4M4M", "M"]
    + ["1", "99999999999999T", "²M", "4M,", "+", "None"],
)
def test_absurd_bandwidth(refused, text):
    refused(["reserve", "app", "sdb", f"--bw={text}"], codes=(1, 2))


@pytest.mark.parametrize(
    "text", ["", "10", "10min", "0ms", "-1ms", "1h", "ms", "1e9s", "nan", "10 m s", "10Ms", "1000s"]
)
def test_absurd_latency(refused, text):
    refused(["reserve", "app", "sdb", "--bw=4M", f"--latency={text}"], codes=(1, 2))


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        (["--bw=400Mb"], "may be bits per second"),
        (["--bw=lots"], "'lots' is not a rate"),
        (["--bw=1"], "bw '1' is 1 B/s: it must be 4 KiB/s to 1 TiB/s"),
        (["--bw=4M", "--latency=10"], "write it with its unit"),
        ([], "no reservation is given"),
        (["--weight=200"], "needs a bandwidth or operations: give it bw or iops"),
        (["--bw=10M", "--max=1M"], "max 1M is less than what is reserved: it must be 10M or"),
        (["--iops=100", "--max=8K"], "max 8K is less than what is reserved: it must be 400K or"),
    ],
)
def test_the_error_for_a_wrong_reservation_has_the_valid_values(refused, keys, says):
    assert says in refused(["reserve", "app", "sdb", *keys], codes=(2,))


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e999", "soon", ""])
@pytest.mark.parametrize("name", ["fit", "explain", "trace", "calibrate", "top"])
def test_absurd_time(host, capsys, name, text):
    option = "--interval" if name == "top" else "--seconds"
    line = words(name)
    before = everything(host)
    with pytest.raises(SystemExit) as ended:
        main([*line, f"{option}={text}"], host)
    assert ended.value.code == 2
    assert f"{text!r} is not a number of seconds, as in 10 or 0.5" in capsys.readouterr().err
    assert everything(host) == before


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", "²"])
def test_absurd_depth(host, capsys, text):
    with pytest.raises(SystemExit) as ended:
        main(["calibrate", "sdb", f"--depth={text}"], host)
    assert ended.value.code == 2
    assert f"{text!r} is not a positive whole number" in capsys.readouterr().err


def test_requests_that_no_disk_takes(refused):
    """The kernel splits them, so smaller requests would be measured."""
    said = refused(["calibrate", "sdb", "--size", "4M", "--seconds", "1"])
    assert "sdb takes requests of at most 1.25 MiB" in said


@pytest.mark.parametrize("count", ["0", "3"])
def test_a_queue_that_is_shorter_than_any(refused, count):
    """The kernel sets 4 instead, so the value would differ from the kept one for ever."""
    said = refused(["enable", "sdb", "--nr-requests", count], codes=(2,))
    assert f"{count} is less than the 4 requests" in said


def test_htbs_is_no_way_off_htbs(refused):
    line = ["disable", "sdb", "--scheduler", "htbs"]
    assert "disable takes a disk off HTBS: name another" in refused(line, codes=(2,))


@pytest.mark.parametrize("output", [".", "/", ".."])
def test_counters_in_a_directory(refused, output):
    assert "is a directory" in refused(["metrics", "--output", output])
