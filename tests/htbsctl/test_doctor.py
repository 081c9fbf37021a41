"""What htbsctl doctor finds of disks that htbs.conf keeps."""

from htbsctl.__main__ import main
from htbsctl.store import FILE


def test_the_doctor_names_a_disk_that_left(host, capsys):
    host.put(str(FILE), "device sda\ndevice sdb\n")
    main(["doctor"], host)
    text = capsys.readouterr().out
    assert f"sda: {FILE} keeps it on HTBS, but it is on mq-deadline" in text
    assert "sdb: /etc" not in text


def test_a_group_that_goes_away_does_not_end_the_doctor(host, capsys, app_goes_away):
    """As those of containers and sessions do all the time."""
    host.put("/sys/fs/cgroup/io.cost.qos", "8:16 enable=1\n")
    host.group("/db")
    host.put("/sys/fs/cgroup/db/io.latency", "8:16 target=10000\n")
    assert main(["doctor"], host) == 3
    text = capsys.readouterr().out
    for file in ("io.cost: /sys/fs/cgroup/io.cost.qos", "io.latency: /sys/fs/cgroup/db/io.latency"):
        assert f"{file} is in force" in text
