"""Running ansible-playbook."""

import os
import subprocess
from collections.abc import Mapping, Sequence

from tests.vm.kernels import REPO


def ansible(
    command: Sequence[str | os.PathLike], environment: Mapping[str, str]
) -> subprocess.CompletedProcess:
    """Run a command of Ansible in the repository; its output and errors are both in stdout."""
    return subprocess.run(
        command,
        cwd=REPO,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
