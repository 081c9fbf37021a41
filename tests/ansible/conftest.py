"""Run ansible-playbook without the user's configuration."""

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ansible.playbook import ansible
from tests.vm.kernels import REPO


@dataclass(frozen=True)
class Play:
    """The output of a playbook, and its exit code."""

    text: str
    code: int

    def recap(self, word: str) -> int:
        """Return a number of its recap."""
        return int(re.findall(rf"\b{word}=(\d+)", self.text)[-1])


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Play]:
    """Run a playbook with an inventory and words of the command line."""

    def run(playbook: Path, inventory: dict | Path, *words: str) -> Play:
        if isinstance(inventory, dict):
            text, inventory = json.dumps(inventory), tmp_path / "inventory.json"
            inventory.write_text(text)
        command = [sys.executable, "-m", "ansible", "playbook", "-i", inventory, *words, playbook]
        environment = os.environ | {
            "ANSIBLE_HOME": str(tmp_path / "ansible"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_ROLES_PATH": str(REPO / "ansible/roles"),
            "LC_ALL": "C.UTF-8",
        }
        done = ansible(command, environment)
        return Play(done.stdout, done.returncode)

    return run
