"""The command line: help, errors, and the documents made of its help."""

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


def test_failures_and_times_in_the_man_page():
    page = manual.man_page(parser()).replace(r"\-", "-")
    assert "Nothing changed, except by apply, which prints a line for each failure and" in page
    assert "A latency needs a unit: us, ms or s. --default-latency-us is in microseconds" in page
    assert "If a line is deleted by hand, its settings stay in force until a reboot" in page


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


UNITS = "nginx.service postgresql@15-main.service dev-disk\\\\x2done.service".replace(" ", "\\n")


@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("reserve ngi", "nginx.service"),
        ("reserve postgresql@", "@15-main.service"),
        ("reserve postgresql@1", "@15-main.service"),
        # The shell parses what is put on the command line.
        ("reserve dev-", r"dev-disk\\x2done.service"),
        (r"reserve dev-disk\\x2d", r"dev-disk\\x2done.service"),
        ("reserve nginx.service ./pci-0:", "00:1"),
        ("reserve nginx.service ./pci-0:00:1", "1"),
        (r"enable ./a\ b", r"./a\ b\ c"),
        ("top --sort ", "bandwidth late p99 group"),
        ("top --sort p", "p99"),
        ("top --interval ", ""),
        ("top --so", "--sort"),
        ("metrics --output ./pci", "./pci-0:00:1"),
        ("enab", "enable"),
        ("nothing ", ""),
    ],
)
def test_completion_of_names(tmp_path, line, replies):
    """As bash calls it: @ and : separate words for bash, but not for htbsctl."""
    for name in ("pci-0:00:1", "a b c"):
        (tmp_path / name).touch()
    script = f"""{manual.bash_completion(parser())}
        systemctl() {{ printf '{UNITS}\\n'; }}
        COMP_LINE='htbsctl {line}'; COMP_POINT=${{#COMP_LINE}}; _htbsctl
        echo "${{COMPREPLY[*]}}" """
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == (f"{replies}\n", "")
