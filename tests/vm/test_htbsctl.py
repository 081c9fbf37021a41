"""htbsctl, as an operator uses it: its output, the changes it makes, the state it keeps."""

import json

import pytest

from tests.vm import Result
from tests.vm.functional import Boot

pytestmark = [pytest.mark.guest, pytest.mark.one_kernel]

GUEST = Boot("htbsctl", clock="real", htbsctl=True, timeout=1200)
RESERVED = "bw=4194304 burst=65536 latency=50000"


def said(result: Result, name: str, code: int = 0) -> str:
    """Return the output of a command with this exit code, and no error if it is 0 or 3."""
    lines = result.text(f"{name}.err").splitlines(keepends=True)
    # The guest has no systemd.
    expected = "htbsctl: htbs.service is not installed: "
    error = "".join(line for line in lines if not line.startswith(expected))
    assert result.text(f"{name}.rc").strip() == str(code), error
    assert (code in (0, 3)) == (not error), error
    assert "Traceback" not in error
    return error or result.text(f"{name}.out")


def kept(result: Result, name: str) -> list[str]:
    """The lines of htbs.conf."""
    return [line for line in result.text(f"{name}.conf").splitlines() if line[:1] != "#"]


def disk(result: Result) -> str:
    return result.text("disk").strip()


def test_without_the_module(result: Result) -> None:
    assert "htbs" not in said(result, "no-module")
    assert "no such device" in said(result, "no-module-enable", 1)
    assert "none is on HTBS" in said(result, "no-module-doctor", 3)


def test_enable(result: Result) -> None:
    name = disk(result)
    assert f"{name}     mq-deadline" in said(result, "status-before")
    assert f"would put {name} on htbs" in said(result, "enable-dry")
    assert f"/mnt/data: {name}\n" in said(result, "enable")
    assert result.text("enabled").strip() == "htbs"
    assert [line.split()[2:] for line in kept(result, "enabled")] == [["nr_requests=128"]]


def test_reserve(result: Result) -> None:
    assert "bw 4 MiB/s, latency 50 ms" in said(result, "reserve-dry")
    assert "bw 4 MiB/s, burst 64 KiB, latency 50 ms" in said(result, "reserve")
    assert result.text("reserved").strip() == RESERVED
    [_, line] = kept(result, "reserved")
    assert line.endswith(" bw=4M burst=64K latency=50ms")
    assert line.startswith("reserve /sys/fs/cgroup/db ")


def test_reserve_changes_only_the_given_keys(result: Result) -> None:
    said(result, "reserve-more")
    assert result.text("more").strip() == f"{RESERVED} weight=200"
    assert kept(result, "more")[1].endswith(" bw=4M burst=64K latency=50ms weight=200")


def test_a_key_is_taken_back(result: Result) -> None:
    said(result, "reserve-max")
    assert result.text("max").strip() == f"{RESERVED} max=8388608 iops=2000"
    assert "max max, iops max" in said(result, "reserve-no-max")
    assert result.text("no-max").strip() == RESERVED


def test_status(result: Result) -> None:
    text = said(result, "status")
    assert "bw=4M burst=64K latency=50ms weight=200" in text
    status = json.loads(said(result, "status-json"))
    [its] = [each for each in status["devices"] if each["device"] == disk(result)]
    assert (its["scheduler"], its["promised_bw"]) == ("htbs", 5 << 20)
    assert [(each["group"], each["bw"]) for each in status["reservations"]] == [("/db", 4 << 20)]


def test_check(result: Result) -> None:
    assert "calibrate" in said(result, "check-unknown", 1)
    said(result, "enable-capacity")
    assert "can keep all 2 reservations" in said(result, "check")
    text = said(result, "check-more", 3)
    assert "cannot keep all 3 reservations" in text
    assert "dropping any one of these would be enough: the new one" in text
    answer = json.loads(said(result, "check-json", 3))
    assert not answer["kept"]
    assert answer["too_much"] == ["the new one"]


def test_a_refused_reservation_changes_nothing(result: Result) -> None:
    assert "ENOSPC" in said(result, "refused", 1)
    assert result.text("refused") == result.text("more")
    assert kept(result, "refused")[1] == kept(result, "more")[1]


def test_top(result: Result) -> None:
    text = said(result, "top")
    assert "P99" in text.splitlines()[0]
    assert text.splitlines()[1].startswith("/greedy "), "sorted by bandwidth"
    rows = {row["group"]: row for row in json.loads(said(result, "top-json"))}
    reader, greedy = rows["/db"], rows["/greedy"]
    assert reader["reserved_bw"] == 4 << 20
    assert 0 < reader["bw"] < 2 * (1 << 17), "what fio asks for, and what it has to catch up"
    assert greedy["bw"] > reader["bw"]
    for row in (reader, greedy):
        assert 0 < row["p50_us"] <= row["p99_us"] <= row["max_us"] < 30e6
    assert "-" in said(result, "top-plain")


def test_top_leaves_no_trace(result: Result) -> None:
    assert result.text("instances") == ""
    assert "htbsctl" not in result.text("synthetic")


def test_a_top_that_was_killed_is_tidied_up_after(result: Result) -> None:
    assert "htbsctl-" in result.text("killed")
    assert json.loads(said(result, "top-again"))
    assert result.text("killed-after") == ""
    assert "htbsctl" not in result.text("killed-synthetic")


def test_a_top_that_is_ended_leaves_no_trace(result: Result) -> None:
    assert result.text("ended.rc").split() == ["143"] * 3
    assert result.text("ended") == ""
    assert "htbsctl" not in result.text("ended-synthetic")


def test_explain(result: Result) -> None:
    text = said(result, "explain")
    assert "/db has a reservation of its own: bw 4 MiB/s" in text
    assert "of them conform to the reservation" in text
    assert "was the active group" in text
    greedy = said(result, "explain-greedy")
    assert "shares the default reservation of the disk, bw 1 MiB/s" in greedy
    assert "the rest is surplus" in greedy


def test_trace(result: Result) -> None:
    text = said(result, "trace")
    assert f"{disk(result)} on htbs, " in text
    assert "QUEUED P99" in text
    answer = json.loads(said(result, "trace-json"))
    rows = {row["group"]: row for row in answer["groups"]}
    reader, greedy = rows["/db"], rows["/greedy"]
    assert 0 < reader["read_bw"] < greedy["read_bw"]
    assert reader["requests"] > 10
    for row in (reader, greedy):
        assert 0 < row["queued_p50_us"] <= row["queued_max_us"] < 30e6
        # The disk's delay is 16 ms.
        assert 16000 <= row["served_p50_us"] <= row["served_max_us"] < 30e6
    assert any(path.stat().st_size for path in result.out.glob("kept.blktrace.*"))
    assert result.text("blk_cgroup").strip() == "0"


def test_trace_of_a_disk_that_is_traced_is_refused(result: Result) -> None:
    assert "-k ends a stale trace" in said(result, "trace-busy", 1)


def test_fit(result: Result) -> None:
    """The reader submits 128 KiB/s, with one request of 4 KiB in flight."""
    assert "htbsctl reserve db " in said(result, "fit")
    answer = json.loads(said(result, "fit-json"))
    assert 0 < answer["mean_bw"] < 2 * (1 << 17)
    assert answer["bw"] >= answer["mean_bw"] * 0.99
    bursts = [each["burst"] for each in answer["curves"]]
    assert bursts == sorted(bursts, reverse=True)
    assert "only 0 requests from /db" in said(result, "fit-nothing", 1)


def test_calibrate(result: Result) -> None:
    assert "htbsctl enable fast --capacity-bw" in said(result, "calibrate")
    answer = json.loads(said(result, "calibrate-json"))
    assert answer["capacity_bw"] == pytest.approx(
        answer["depth"] * 4096e6 / answer["longest_us"], rel=0.01
    )
    assert answer["depth"] == 2
    assert "is in use" in said(result, "calibrate-write", 1)


def test_metrics(result: Result) -> None:
    text = said(result, "metrics")
    name = disk(result)
    assert f'htbs_reserved_bytes_per_second{{group="/db",device="{name}"}} 4194304\n' in text
    assert f'htbs_active{{device="{name}"}} 1\n' in text
    assert f'htbs_conforming_total{{group="/db",device="{name}"}} ' in text
    said(result, "metrics-file")
    heads = [line for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(set(heads)) == len(heads)
    assert [line for line in result.text("htbs.prom").splitlines() if line[0] == "#"] == [
        line for line in text.splitlines() if line[0] == "#"
    ]


def test_doctor(result: Result) -> None:
    text = said(result, "doctor", 3)
    assert "htbsctl calibrate fast" in text
    findings = json.loads(said(result, "doctor-json", 3))
    assert {"about": "module", "remedy": ""}.items() <= findings[1].items()


def test_the_kept_state_is_applied_to_new_disks_and_groups(result: Result) -> None:
    assert result.text("again").strip() == f"{RESERVED} weight=200"
    assert result.text("again-requests").strip() == "128"
    assert result.text("watch.rc").strip() == "0"
    assert result.text("watch.err") == ""


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("bad-device", 1, "sdz: no such device or mount point"),
        ("bad-mount", 1, "/proc is on proc, which is not backed by a disk"),
        ("bad-target", 1, "nogroup: no such cgroup, unit, container or virtual machine"),
        ("bad-scheduler", 1, "fast is not on HTBS: htbsctl enable fast"),
        ("full", 1, "ENOSPC"),
        ("bad-conf", 1, "htbs.conf:"),
        ("bad-conf-reserve", 1, "htbs.conf:"),
        ("release-twice", 1, "has no reservation of its own"),
    ],
)
def test_wrong_input_is_one_line_with_a_remedy(result: Result, name, code, words) -> None:
    error = said(result, name, code)
    assert words in error
    assert error.startswith("htbsctl: ")
    assert error.count("\n") == 1


def test_a_full_etc_keeps_the_old_state(result: Result) -> None:
    assert kept(result, "full") == kept(result, "more")
    assert result.text("full").strip() == f"{RESERVED} weight=200"


def test_release_and_disable(result: Result) -> None:
    said(result, "release")
    assert result.text("released").strip().endswith("default")
    assert len(kept(result, "released")) == 1
    said(result, "disable")
    assert result.text("disabled").strip() == "mq-deadline"
    assert kept(result, "disabled") == []
