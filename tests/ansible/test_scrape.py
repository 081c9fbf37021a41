"""The configuration of Prometheus that is made from the inventory."""

import subprocess

import yaml

from tests.vm.kernels import BUILD, REPO

PROMTOOL = BUILD / "prometheus/usr/bin/promtool"


def test_promtool_accepts_the_configuration_and_each_host_is_an_instance(play, tmp_path):
    done = play(
        REPO / "ansible/prometheus.yml",
        REPO / "ansible/inventory",
        "-e",
        f"htbs_prometheus_directory={tmp_path}/made",
    )
    assert done.code == 0, done.text
    file = tmp_path / "made/prometheus.yml"
    checked = subprocess.run(
        [PROMTOOL, "check", "config", file], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    [job] = yaml.safe_load(file.read_text())["scrape_configs"]
    assert [(each["targets"], each["labels"]) for each in job["static_configs"]] == [
        ([f"storage{number}.example.org:9100"], {"instance": f"storage{number}.example.org"})
        for number in (1, 2)
    ]
    assert (tmp_path / "made/htbs-dashboard.json").exists()
