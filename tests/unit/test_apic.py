"""How a kernel on the virtual clock gets the period of its timer: protocol and cached result."""

import socket
from threading import Thread

import pytest

from tests.vm import apic
from tests.vm.kernels import Kernel

TIMER = apic.Timer(0xFFFFFFFF83367910, 0xFFFFFFFF8377B3C4, 4_000_000)
SAID = """\
ffffffff83367910 T setup_boot_APIC_clock
ffffffff8377b3c4 B lapic_timer_period
lpj=4000000
"""


def _serve(channel: socket.socket, answers: list[bytes], heard: list[str]) -> None:
    for answer in answers:
        packet = b""
        while b"#" not in packet[:-2]:
            packet += channel.recv(1)
        heard.append(packet.lstrip(b"+").decode())
        channel.sendall(b"+" + answer)
    channel.recv(1)
    channel.close()


def _spare(answers: list[bytes]) -> list[str]:
    ours, theirs = socket.socketpair()
    heard: list[str] = []
    server = Thread(target=_serve, args=(theirs, answers, heard))
    server.start()
    with ours:
        ours.settimeout(10)
        apic.spare(ours, TIMER)
    server.join()
    return heard


def test_the_period_is_written_before_the_kernel_calibrates():
    heard = _spare([b"$OK#9a", b"$T05thread:01;#07", b"$OK#9a", b"$OK#9a", b"$OK#9a"])
    commands = [packet[1:-3] for packet in heard]
    assert commands == [
        "Z1,ffffffff83367910,1",
        "c",
        "Mffffffff8377b3c4,4:00093d00",
        "z1,ffffffff83367910,1",
        "D",
    ]
    sums = [sum(command.encode()) % 256 for command in commands]
    assert [packet[-3:] for packet in heard] == [f"#{each:02x}" for each in sums]


def test_a_guest_that_dies_is_not_our_business():
    assert len(_spare([b"$OK#9a"])) == 1


def test_an_answer_that_is_an_error_is_told():
    with pytest.raises(RuntimeError, match="'E22' to 'Mffffffff8377b3c4"):
        _spare([b"$OK#9a", b"$T05#b9", b"$E22#a9"])


def test_a_saved_timer_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(apic, "BUILD", tmp_path)
    kernel = Kernel("6.12.1-amd64", tmp_path)
    assert apic.known(kernel) is None
    apic.save(kernel, SAID)
    assert apic.known(kernel) == TIMER


def test_a_kernel_built_of_something_else_is_another(tmp_path, monkeypatch):
    monkeypatch.setattr(apic, "BUILD", tmp_path)
    apic.save(Kernel("6.12.1-debug", tmp_path / "debug-1"), SAID)
    assert apic.known(Kernel("6.12.1-debug", tmp_path / "debug-1")) == TIMER
    assert apic.known(Kernel("6.12.1-debug", tmp_path / "debug-2")) is None


@pytest.mark.parametrize("line", range(3))
def test_output_without_a_timer_is_not_saved(tmp_path, monkeypatch, line: int):
    monkeypatch.setattr(apic, "BUILD", tmp_path)
    kernel = Kernel("6.12.1-amd64", tmp_path)
    said = SAID.splitlines(keepends=True)
    del said[line]
    with pytest.raises(ValueError, match="does not say where"):
        apic.save(kernel, "".join(said))
    assert apic.known(kernel) is None
