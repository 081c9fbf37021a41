"""The command line: help, errors, and the documents that are made of it."""

import subprocess
import sys

import pytest

from htbsctl import manual
from htbsctl.__main__ import COMMANDS, main, parser
from tests.vm.kernels import REPO


def test_each_command_has_help():
    commands = manual.commands(parser())
    assert tuple(commands) == COMMANDS
    for command in commands.values():
        for action in command._actions:
            assert action.help, f"{command.prog} {action.dest}"


def test_an_unknown_command_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as raised:
        main(["reserv"])
    assert raised.value.code == 2
    assert "invalid choice: 'reserv'" in capsys.readouterr().err


def test_a_failure_is_one_line(host, capsys):
    assert main(["enable", "sdz"], host) == 1
    error = capsys.readouterr().err
    assert error.startswith("htbsctl: sdz: no such device")
    assert error.count("\n") == 1


def test_status_without_root(host, capsys):
    host.group("/app", "8:16 bw=4194304 burst=65536 latency=50000\n")
    assert main(["status"], host) == 0
    assert "/app   sdb     bw=4M burst=64K latency=50ms" in capsys.readouterr().out


def test_the_archive_runs(tmp_path):
    file = tmp_path / "htbsctl"
    subprocess.run([REPO / "scripts/archive-htbsctl", file], check=True)
    done = subprocess.run([sys.executable, file, "--version"], capture_output=True, check=True)
    assert done.stdout.startswith(b"htbsctl ")


def test_man_page():
    page = manual.man_page(parser())
    for name in COMMANDS:
        assert f'.SS "htbsctl {name} ' in page
    assert not [line for line in page.splitlines() if line.startswith("'")]


def test_completion(tmp_path):
    file = tmp_path / "htbsctl.bash"
    file.write_text(manual.bash_completion(parser()))
    done = subprocess.run(
        [
            *("bash", "-c"),
            f". {file}; COMP_WORDS=(htbsctl reserve --la) COMP_CWORD=2;"
            " _htbsctl; echo ${COMPREPLY[@]}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "--latency\n"
