"""What htbsctl metrics reports about disks: which are on HTBS, and which should be."""

import re

import pytest

from htbsctl.__main__ import main
from htbsctl.failure import Exit
from htbsctl.store import FILE


def told(capsys, metric):
    """Return the value of a metric for each disk."""
    text = capsys.readouterr().out
    found = re.findall(rf'(?m)^htbs_{metric}{{device="(\w+)"}} (\d+)$', text)
    return {name: int(value) for name, value in found}


@pytest.mark.parametrize(
    ("conf", "wanted"),
    [
        (None, {"sda": 0, "sdb": 0}),
        ("device sdb\n", {"sda": 0, "sdb": 1}),
        # Somebody switched it to mq-deadline.
        ("device sda nr_requests=128\ndevice sdb\n", {"sda": 1, "sdb": 1}),
        # A reservation does not put a disk on HTBS.
        ("reserve app sda bw=4M\n", {"sda": 0, "sdb": 0}),
        # A disk that is absent has no gauge.
        ("device sdz\ndevice sdb\n", {"sda": 0, "sdb": 1}),
    ],
)
def test_disks_that_are_to_be_on_htbs(host, capsys, conf, wanted):
    if conf:
        host.put(str(FILE), conf)
    assert main(["metrics"], host) == Exit.DONE
    assert told(capsys, "wanted") == wanted


def test_a_disk_is_wanted_without_the_module(host, capsys):
    host.put(str(FILE), "device sdb\n")
    host.put("/sys/devices/sdb/queue/scheduler", "none [mq-deadline]\n")
    assert main(["metrics"], host) == Exit.DONE
    text = capsys.readouterr().out
    assert 'htbs_active{device="sdb"} 0\n' in text
    assert 'htbs_wanted{device="sdb"} 1\n' in text
    assert "htbs_device_" not in text


def test_a_bad_line_is_told(host, capsys):
    host.put(str(FILE), "device sdb frobs=1\n")
    assert main(["metrics"], host) == Exit.FAILED
    assert f"{FILE}:1: cannot read 'device sdb frobs=1'" in capsys.readouterr().err


def test_overdue_requests_are_not_counted_until_they_complete(host, capsys):
    """The kernel counts it as missed while it is pending, but not while it is in flight."""
    seen = []
    for missed, overdue in ((7, 0), (9, 2), (7, 0), (9, 0)):
        stat = f"8:16 conforming=20 met=11 missed={missed} overdue={overdue}\n"
        host.put("/sys/fs/cgroup/app/io.htbs.stat", stat)
        main(["metrics"], host)
        text = capsys.readouterr().out
        seen += re.findall(r'htbs_(?:missed_total|overdue){group="/app",device="sdb"} (\d+)', text)
    assert seen == ["7", "0", "7", "2", "7", "0", "9", "0"]


@pytest.mark.parametrize(("seeks", "promised"), [("1", 1000), ("0", 100)])
def test_how_many_may_be_late(host, capsys, seeks, promised):
    """On a device that does not seek, more may be late beside writes, whatever it claims."""
    host.put("/sys/devices/sdb/queue/iosched/seeks", f"{seeks}\n")
    assert main(["metrics"], host) == Exit.DONE
    assert told(capsys, "device_late_one_in") == {"sdb": promised}


def test_whether_a_disk_seeks(host, capsys):
    host.put("/sys/devices/sdb/queue/iosched/seeks", "0\n")
    assert main(["metrics"], host) == Exit.DONE
    assert told(capsys, "device_seeks") == {"sdb": 0}
