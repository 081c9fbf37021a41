"""How htbsctl trace evaluates blktrace's records."""

import argparse
import struct

import pytest

from htbsctl import blktrace
from htbsctl.blktrace import Record
from htbsctl.commands import trace
from htbsctl.failure import Failure
from tests.htbsctl.conftest import Fake

# struct blk_io_trace of linux/blktrace_api.h.
FORMAT = "<IIQQIIIIIHH"
MAGIC = 0x65617407
READ, WRITE, QUEUED = 1 << 16, 1 << 17, 1 << 20
DATABASE, BACKUP = 42, 43


def binary(time, kind, sector=0, **more):
    """Return a record as the kernel writes it."""
    given = {"cgroup": 0, "category": READ, "magic": MAGIC, "data": b""} | more
    cgroup, data = given["cgroup"], given["data"]
    if cgroup:
        data = struct.pack("<Q", cgroup) + data
    action = given["category"] | QUEUED | kind | (0x100 if cgroup else 0)
    fields = (given["magic"], 0, time, sector, 4096, action, 1, 2, 3, 0, len(data))
    return struct.pack(FORMAT, *fields) + data


def summary(*records):
    requests = trace.Requests()
    for record in records:
        requests.add(record)
    return requests.sums


def test_records_of_all_cpus_are_read_by_time(tmp_path):
    note = binary(2, 2, category=1 << 26, data=b"htbs arrive", cgroup=1)
    (tmp_path / "t.blktrace.0").write_bytes(
        binary(1, 12, 8, cgroup=DATABASE) + note + binary(5, 8, 8, data=b"12")
    )
    (tmp_path / "t.blktrace.1").write_bytes(binary(3, 7, 8, category=WRITE) + b"cut short")
    found = list(blktrace.read(tmp_path, "t"))
    assert [(each.time, each.kind, each.cgroup) for each in found] == [
        (1, blktrace.INSERT, DATABASE),
        (3, blktrace.ISSUE, 0),
        (5, blktrace.COMPLETE, 0),
    ]
    assert [bool(each.category & blktrace.WRITE) for each in found] == [False, True, False]


def test_other_formats_are_refused(tmp_path):
    (tmp_path / "t.blktrace.0").write_bytes(binary(1, 1, magic=0x65617408))
    with pytest.raises(Failure, match=r"t.blktrace.0 is not a blktrace file: use"):
        list(blktrace.read(tmp_path, "t"))


def test_time_is_divided_into_queued_and_served():
    sums = summary(
        Record(100, blktrace.INSERT, 0, 8, 4096, DATABASE),
        Record(300, blktrace.ISSUE, 0, 8, 4096, DATABASE),
        Record(310, blktrace.INSERT, WRITE, 8, 8192, BACKUP),
        Record(320, blktrace.ISSUE, WRITE, 8, 8192, BACKUP),
        Record(900, blktrace.COMPLETE, 0, 8, 4096, 0),
        Record(910, blktrace.COMPLETE, WRITE, 8, 8192, 0),
    )
    assert list(sums[DATABASE].queued) == [200]
    assert list(sums[DATABASE].served) == [600]
    assert (sums[DATABASE].read, sums[DATABASE].written) == (4096, 0)
    assert (sums[BACKUP].read, sums[BACKUP].written) == (0, 8192)
    assert 0 not in sums


def test_merges_are_counted_and_front_merges_move_a_request():
    sums = summary(
        Record(100, blktrace.INSERT, 0, 8, 4096, DATABASE),
        Record(110, blktrace.BACK_MERGE, 0, 16, 4096, DATABASE),
        Record(120, blktrace.FRONT_MERGE, 0, 0, 4096, DATABASE),
        Record(300, blktrace.ISSUE, 0, 0, 12288, DATABASE),
        Record(400, blktrace.COMPLETE, 0, 0, 12288, 0),
    )
    assert sums[DATABASE].merged == 2
    assert sums[DATABASE].requests == 1
    assert list(sums[DATABASE].queued) == [200]
    assert sums[DATABASE].read == 12288


def test_a_request_that_is_merged_into_another_is_not_taken_for_a_later_one():
    """A gap between two requests is filled, and later the second's sector is read again."""
    sums = summary(
        Record(100, blktrace.INSERT, 0, 8, 4096, DATABASE),
        Record(110, blktrace.INSERT, 0, 24, 4096, DATABASE),
        Record(120, blktrace.BACK_MERGE, 0, 16, 4096, DATABASE),
        Record(120, blktrace.BACK_MERGE, 0, 24, 4096, DATABASE),
        Record(300, blktrace.ISSUE, 0, 8, 12288, DATABASE),
        Record(400, blktrace.COMPLETE, 0, 8, 12288, 0),
        Record(9000, blktrace.INSERT, 0, 24, 4096, BACKUP),
        Record(9050, blktrace.ISSUE, 0, 24, 4096, BACKUP),
        Record(9100, blktrace.COMPLETE, 0, 24, 4096, 0),
    )
    assert sums[DATABASE].merged == 2
    assert (list(sums[DATABASE].queued), list(sums[BACKUP].queued)) == ([200], [50])


def test_a_requeued_request_is_counted_once():
    sums = summary(
        Record(100, blktrace.INSERT, 0, 8, 4096, DATABASE),
        Record(200, blktrace.ISSUE, 0, 8, 4096, DATABASE),
        Record(210, blktrace.REQUEUE, 0, 8, 4096, DATABASE),
        Record(220, blktrace.INSERT, 0, 8, 4096, DATABASE),
        Record(250, blktrace.ISSUE, 0, 8, 4096, DATABASE),
        Record(400, blktrace.COMPLETE, 0, 8, 4096, 0),
    )
    assert sums[DATABASE].requests == 1
    assert (list(sums[DATABASE].queued), list(sums[DATABASE].served)) == ([30], [150])


def test_requests_that_bypass_the_scheduler_or_began_before_have_no_time_there():
    sums = summary(
        Record(50, blktrace.COMPLETE, 0, 64, 4096, 0),
        Record(200, blktrace.ISSUE, 0, 8, 4096, 0),
        Record(400, blktrace.COMPLETE, 0, 8, 4096, 0),
    )
    assert (list(sums[0].queued), list(sums[0].served)) == ([], [200])


def test_discards_write_nothing():
    category = blktrace.WRITE | blktrace.DISCARD
    sums = summary(
        Record(200, blktrace.ISSUE, category, 8, 1 << 20, DATABASE),
        Record(400, blktrace.COMPLETE, category, 8, 1 << 20, 0),
    )
    assert (sums[DATABASE].requests, sums[DATABASE].written) == (1, 0)


@pytest.fixture
def traced(tmp_path, monkeypatch):
    """A host on which blktrace records two requests."""
    host = Fake(tmp_path / "root")
    host.put("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    host.group("/db")
    host.group("")
    host.disk("sdb", "8:16", "none [mq-deadline] htbs")
    inode = host.path("/sys/fs/cgroup/db").stat().st_ino

    def record(_host, _disk, directory, name, seconds):
        records = [
            *(binary(1_000_000, 12, 8, cgroup=inode), binary(3_000_000, 7, 8, cgroup=inode)),
            *(binary(7_000_000, 8, 8), binary(8_000_000, 7, 16, cgroup=99)),
            binary(9_000_000, 8, 16),
        ]
        (directory / f"{name}.blktrace.0").write_bytes(b"".join(records))
        return blktrace.Recorded(seconds, host.lost)

    host.lost = 0
    monkeypatch.setattr(blktrace, "record", record)
    return host


def words(**more):
    return argparse.Namespace(
        **({"device": "sdb", "seconds": 2.0, "output": None, "json": False} | more)
    )


def test_a_line_for_each_group(traced, capsys):
    assert trace.run(traced, words()) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["sdb", "on", "mq-deadline,", "2.0", "s"]
    assert lines[2][0] == "/db"
    assert lines[2][-12:] == ["2", "ms"] * 3 + ["4", "ms"] * 3
    assert lines[3][:3] == ["cgroup", "99,", "removed"]


def test_lost_events_are_said(traced, capsys):
    traced.lost = 5
    assert trace.run(traced, words()) == 3
    assert "5 events were lost: repeat while the disk is less busy" in capsys.readouterr().out


def test_output_is_kept_and_not_overwritten(traced, tmp_path, capsys):
    output = str(tmp_path / "a[1]")
    assert trace.run(traced, words(output=output)) == 0
    kept = tmp_path / "a[1].blktrace.0"
    before = kept.read_bytes()
    with pytest.raises(Failure, match="exists: remove it"):
        trace.run(traced, words(output=output))
    assert kept.read_bytes() == before
    with pytest.raises(Failure, match="is not a file in a directory that exists"):
        trace.run(traced, words(output=str(tmp_path / "none/a")))


def test_kernel_without_the_option_is_refused(tmp_path, monkeypatch):
    host = Fake(tmp_path)
    monkeypatch.setattr(host, "has", lambda _: True)
    host.disk("sdb", "8:16")
    with pytest.raises(Failure, match=r"no .*options/blk_cgroup: run it as root, on a kernel"):
        blktrace.record(host, trace.disks.one(host, "sdb"), tmp_path, "t", 1)
    monkeypatch.setattr(host, "has", lambda _: False)
    with pytest.raises(Failure, match="no blktrace: apt install blktrace"):
        blktrace.record(host, trace.disks.one(host, "sdb"), tmp_path, "t", 1)
