"""The role passes ansible-lint and Ansible's own parser of playbooks and arguments."""

import json
import os
import subprocess

import pytest
import yaml

from tests.vm.kernels import BUILD, REPO

ANSIBLE = REPO / "ansible"
ROLE = ANSIBLE / "roles/htbs"


def test_ansible_lint(tmp_path):
    """It passes the strictest profile; nothing is fetched."""
    environment = os.environ | {"ANSIBLE_HOME": str(tmp_path), "NO_COLOR": "1"}
    environment["PATH"] = f"{BUILD / 'venv/bin'}:{environment['PATH']}"
    done = subprocess.run(
        ["ansible-lint", "--offline", "--profile=production", "--strict"],
        cwd=ANSIBLE,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed: 0 failure(s), 0 warning(s)" in done.stderr


@pytest.mark.parametrize("name", ["site.yml", "prometheus.yml"])
def test_syntax(play, name):
    done = play(ANSIBLE / name, ANSIBLE / "inventory", "--syntax-check")
    assert done.code == 0, done.text
    assert "WARNING" not in done.text


def test_each_variable_is_described():
    """defaults/main.yml and meta/argument_specs.yml have the same, and README.md names them."""
    defaults = yaml.safe_load((ROLE / "defaults/main.yml").read_text())
    spec = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())
    options = spec["argument_specs"]["main"]["options"]
    assert list(defaults) == list(options)
    page = (ANSIBLE / "README.md").read_text()
    assert [name for name in options if f"`{name}`" not in page] == []


def test_the_example_has_arguments_that_the_role_takes():
    spec = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())
    options = spec["argument_specs"]["main"]["options"]
    for path in (ANSIBLE / "inventory").glob("*_vars/*.yml"):
        for name, value in yaml.safe_load(path.read_text()).items():
            assert name in options, f"{path}: {name}"
            for each in value if isinstance(value, list) else []:
                known = options[name]["options"]
                assert set(each) <= set(known), json.dumps(each)
                assert {key for key, about in known.items() if about.get("required")} <= set(each)
