"""The state that is kept over reboots."""

import signal

import pytest

from htbsctl.__main__ import main
from htbsctl.failure import Failure
from htbsctl.reservation import Reservation
from htbsctl.store import FILE, Store, locked

TEXT = """# mine
device sdb nr_requests=128

reserve db.service sdb bw=400M latency=10ms   # the database
"""


@pytest.fixture
def kept(host):
    host.put(str(FILE), TEXT)
    return host


def test_an_empty_store(host):
    assert (Store(host).devices(), Store(host).reservations()) == ({}, {})


def test_it_is_read(kept):
    assert Store(kept).devices() == {"sdb": {"nr_requests": "128"}}
    assert Store(kept).reservations() == {
        ("db.service", "sdb"): Reservation(bw=400 << 20, latency=10_000)
    }


def test_a_change_keeps_the_rest(kept):
    with locked(kept) as store:
        store.set_device("sdb", {"capacity_bw": "5"})
        store.set_reservation("a b", "sdb", Reservation(iops=200))
        with store.saved():
            pass
    assert kept.read(FILE) == TEXT.replace("=128", "=128 capacity_bw=5") + (
        "reserve 'a b' sdb iops=200\n"
    )
    assert ("a b", "sdb") in Store(kept).reservations()


def test_a_forgotten_line_is_gone(kept):
    with locked(kept) as store:
        store.set_reservation("db.service", "sdb", None)
        store.forget_device("sdb")
        store.forget_device("sdz")
        with store.saved():
            pass
    assert kept.read(FILE) == "# mine\n\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("device sdb  nr_requests=128   # mine", "device sdb nr_requests=64   # mine"),
        ("device 'sd#b' # it's", "device 'sd#b' nr_requests=64 # it's"),
        ("device s\\#d# a # b", "device 's#d' nr_requests=64# a # b"),
        ("device sdb nr_requests=64# mine", "device sdb nr_requests=64# mine"),
        ("device  sdb  nr_requests=64", "device  sdb  nr_requests=64"),
    ],
)
def test_a_comment_behind_a_line_stays(host, before, after):
    host.put(str(FILE), f"{before}\n")
    with locked(host) as store:
        [device] = store.devices()
        store.set_device(device, {"nr_requests": "64"})
        with store.saved():
            pass
    assert host.read(FILE) == f"{after}\n"


def test_lines_that_end_with_crlf(host):
    host.path(FILE).parent.mkdir(parents=True)
    host.path(FILE).write_bytes(b"device sdb # mine\r\nreserve app sdb bw=4M\r\n")
    assert Store(host).devices() == {"sdb": {}}
    assert Store(host).reservations() == {("app", "sdb"): Reservation(bw=4 << 20)}


@pytest.mark.parametrize("end", ["\r", "\n"])
def test_a_name_with_the_end_of_a_line(host, capsys, end):
    """Otherwise the file could not be read any more."""
    host.group(f"/a{end}b")
    assert main(["reserve", f"/a{end}b", "sdb", "--bw", "4M"], host) == 1
    said = capsys.readouterr().err
    why = "contains a newline, which /etc/htbs/htbs.conf cannot store"
    assert said.endswith(f"b' {why}: rename it\n")
    assert host.read(f"/sys/fs/cgroup/a{end}b/io.htbs") == ""
    assert not host.exists(FILE)


def test_a_failed_change_leaves_the_file(kept):
    with locked(kept) as store:
        store.forget_device("sdb")
        with pytest.raises(Failure, match="refused"), store.saved():
            raise Failure("refused")
    assert kept.read(FILE) == TEXT
    assert not kept.path(FILE).with_suffix(".new").exists()


def test_a_signal_comes_after_the_change(kept):
    """Both the kernel and the file have the old state, or both have the new one."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        with locked(kept) as store, pytest.raises(KeyboardInterrupt):
            store.forget_device("sdb")
            with store.saved():
                signal.raise_signal(signal.SIGTERM)
                done = True
        assert done
        assert Store(kept).devices() == {}
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    "line",
    [
        "devices sdb",
        "device",
        "device sdb nr_requests=many",
        "device sdb nr_requests=3",
        "device sdb colour=1",
        "device sdb",
        "reserve db.service  'sdb' bw=400M",
        "reserve db sdb",
        "reserve db sdb bw=1",
        "reserve db sdb size=4K",
        "reserve db sdb weight=100",
        "reserve db sdb bw=4M max=2M",
        "reserve db sdb iops=2 max=4K",
        "reserve 'db",
    ],
)
def test_a_line_that_cannot_be_read_is_named(kept, line):
    kept.put(str(FILE), TEXT + line + "\n")
    with pytest.raises(Failure, match=rf"{FILE}:5: "):
        Store(kept)
