"""What htbsctl doctor finds about disks in htbs.conf."""

from htbsctl.__main__ import main
from htbsctl.store import FILE


def test_the_doctor_names_a_disk_that_left(host, capsys):
    host.put(str(FILE), "device sda\ndevice sdb\n")
    main(["doctor"], host)
    text = capsys.readouterr().out
    assert f"sda: {FILE} keeps it on HTBS, but it is on mq-deadline" in text
    assert "sdb: /etc" not in text


def test_lines_that_contradict_each_other(host, capsys):
    """Both lines are applied, so each apply undoes a change of the other line."""
    lines = "device sdb nr_requests=128 late_one_in=10\ndevice 8:16 {}\nreserve app sdb bw=4M\n"
    host.put(str(FILE), lines.format("nr_requests=0128 late_one_in_writes=10") + "device sdz\n")
    main(["doctor"], host)
    assert "set different values" not in capsys.readouterr().out
    host.put(str(FILE), lines.format("nr_requests=256") + "reserve /app 8:16 bw=8M\n")
    assert main(["doctor"], host) == 3
    text = capsys.readouterr().out
    for pair in ("'device sdb' and 'device 8:16'", "'reserve app sdb' and 'reserve /app 8:16'"):
        what = f"{pair} set different values for the same thing"
        assert f"{what}\n     -> delete one of them" in text


def test_a_group_that_goes_away_does_not_end_the_doctor(host, capsys, app_goes_away):
    """Groups of containers and sessions disappear all the time."""
    host.put("/sys/fs/cgroup/io.cost.qos", "8:16 enable=1\n")
    host.group("/db")
    host.put("/sys/fs/cgroup/db/io.latency", "8:16 target=10000\n")
    assert main(["doctor"], host) == 3
    text = capsys.readouterr().out
    for file in ("io.cost: /sys/fs/cgroup/io.cost.qos", "io.latency: /sys/fs/cgroup/db/io.latency"):
        assert f"{file} is in force" in text


def test_throttling_of_a_disk_on_htbs_is_named_with_its_remedy(host, capsys):
    """Throttling of other disks does not concern HTBS."""
    host.put("/sys/fs/cgroup/io.cost.qos", "8:0 enable=1 ctrl=auto\n8:16 enable=0 ctrl=auto\n")
    host.put("/sys/fs/cgroup/app/io.latency", "8:0 target=5000\n8:16 target=0\n")
    host.group("/a b")
    main(["doctor"], host)
    assert "in force" not in capsys.readouterr().out
    host.put("/sys/fs/cgroup/io.cost.qos", "8:0 enable=1 ctrl=auto\n8:16 enable=1 ctrl=auto\n")
    host.put("/sys/fs/cgroup/a b/io.latency", "8:0 target=5000\n8:16 target=5000\n")
    assert main(["doctor"], host) == 3
    text = capsys.readouterr().out
    assert text.count("is in force on sdb: ") == text.count("is in force") == 2
    assert "-> echo '8:16 enable=0' > /sys/fs/cgroup/io.cost.qos; " in text
    assert "-> echo '8:16 target=0' > '/sys/fs/cgroup/a b/io.latency'; " in text
