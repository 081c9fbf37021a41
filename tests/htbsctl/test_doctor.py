"""What htbsctl doctor finds of disks that htbs.conf keeps."""

from htbsctl.__main__ import main
from htbsctl.store import FILE


def test_the_doctor_names_a_disk_that_left(host, capsys):
    host.put(str(FILE), "device sda\ndevice sdb\n")
    main(["doctor"], host)
    text = capsys.readouterr().out
    assert f"sda: {FILE} keeps it on HTBS, but it is on mq-deadline" in text
    assert "sdb: /etc" not in text
