"""Real programs read the metrics, the alerts and the dashboard."""

import json
import re
import shutil
import subprocess
import time
import urllib.request

import pytest

from htbsctl.__main__ import main
from htbsctl.commands import metrics as commands
from tests.htbsctl.conftest import Fake, host  # noqa: F401
from tests.vm.kernels import BUILD, REPO

PROGRAMS = BUILD / "prometheus/usr/bin"
FILES = REPO / "scripts/prometheus"
STAT = (
    "8:16 rbytes=8192 wbytes=4096 dbytes=0 rios=2 wios=1 dios=0 inserted=3 merged=0 completed=3"
    " conforming=3 met=2 missed=1 late_max_us=1500 waits=4 hits=3 overdue=0\n"
)


@pytest.fixture
def metrics(host: Fake, tmp_path):  # noqa: F811
    """The file that a host with one reservation writes."""
    host.group('/a"b', "8:16 bw=4194304 burst=65536 latency=50000 weight=7\n")
    host.put('/sys/fs/cgroup/a"b/io.htbs.stat', STAT)
    file = tmp_path / "text" / "htbs.prom"
    file.parent.mkdir()
    assert main(["metrics", "--output", str(file)], host) == 0
    return file


def test_promtool_accepts_the_metrics(metrics):
    done = subprocess.run(
        [PROGRAMS / "promtool", "check", "metrics"],
        input=metrics.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_node_exporter_serves_them(metrics):
    command = [PROGRAMS / "prometheus-node-exporter", "--web.listen-address=127.0.0.1:0"]
    command += ["--collector.disable-defaults", "--collector.textfile"]
    command += [f"--collector.textfile.directory={metrics.parent}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            found = (re.search(r"address=(127\S+)", line) for line in process.stderr)
            address = next(each[1] for each in found if each)
            page = _page(f"http://{address}/metrics")
        finally:
            process.kill()
    assert 'htbs_reserved_latency_seconds{device="sdb",group="/a\\"b"} 0.05' in page
    assert 'htbs_bytes_total{device="sdb",group="/a\\"b",op="read"} 8192' in page
    assert 'htbs_late_max_seconds{device="sdb",group="/a\\"b"} 0.0015' in page
    assert "node_textfile_scrape_error 0" in page


def test_alerts(tmp_path):
    for file in (FILES / "htbs.rules.yml", REPO / "tests/prometheus/htbs.test.yml"):
        shutil.copy(file, tmp_path)
    done = subprocess.run(
        [PROGRAMS / "promtool", "test", "rules", "htbs.test.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_metric_of_alerts_and_dashboard_exists(metrics):
    there = set(re.findall(r"(?m)^# TYPE (\w+)", metrics.read_text()))
    board = json.loads((FILES / "htbs-dashboard.json").read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    text = "\n".join([*expressions, (FILES / "htbs.rules.yml").read_text()])
    named = set(re.findall(r"\bhtbs_\w+", text))
    assert named
    assert named <= there


def test_each_metric_and_alert_is_documented(metrics):
    page = (REPO / "docs/operating.md").read_text()
    named = set(re.findall(r"`(htbs_\w+)`", page))
    possible = {f"htbs_{name}" for name, *_ in commands._COUNTERS.values()}
    possible |= {f"htbs_{name}" for name, *_ in commands._PROMISES.values()}
    possible |= set(re.findall(r"(?m)^# TYPE (\w+)", metrics.read_text()))
    assert named == possible
    alerts = re.findall(r"- alert: (\w+)", (FILES / "htbs.rules.yml").read_text())
    assert [name for name in alerts if f"| `{name}` |" not in page] == []


def test_each_line_of_the_dashboard_names_its_host():
    """Each line is for the selected hosts.

    Otherwise lines of several hosts would be one, or nameless.
    """
    board = json.loads((FILES / "htbs-dashboard.json").read_text())
    for target in (target for panel in board["panels"] for target in panel["targets"]):
        expression = target["expr"]
        assert "{{instance}}" in target["legendFormat"]
        assert expression.count('instance=~"$instance"') == len(
            re.findall(r"\b(?:htbs|node)_\w+\{", expression)
        )
        for labels in re.findall(r"\bby \(([^)]*)\)", expression):
            assert "instance" in labels


def test_promtool_understands_the_dashboard(tmp_path):
    board = json.loads((FILES / "htbs-dashboard.json").read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    rules = [{"record": f"a:{at}", "expr": each} for at, each in enumerate(expressions)]
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = subprocess.run(
        [PROGRAMS / "promtool", "check", "rules", file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _page(address: str) -> str:
    """Return a page, once the server is up."""
    for _ in range(50):
        try:
            with urllib.request.urlopen(address, timeout=10) as page:
                return page.read().decode()
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"no answer from {address}")
