"""The build: every flavour without a warning, the style, and kernels that are not supported."""

import subprocess
from pathlib import Path

import pytest

from scripts.kernel_types.image import read_btf
from tests.vm import kernels
from tests.vm.kernels import REPO

ALL = {"amd64", "cloud-amd64", "rt-amd64"}
FLAVOURS = {"6.1.": ALL, "6.12.": ALL, "7.3.": {"amd64"}}


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)


def test_every_flavour_builds_without_a_warning():
    """W=1 and sparse, htbs and simdisk; for Debian 13 those kernels that are unpacked."""
    done = run("make", "matrix")
    assert done.returncode == 0, done.stdout + done.stderr
    built = {path.parent.name for path in REPO.glob("build/*/htbs.ko")}
    for series, wanted in FLAVOURS.items():
        flavours = {name.split("-", 1)[1].lstrip("0123456789-") for name in built
                    if name.startswith(series)}
        assert flavours >= wanted, series


def test_style():
    """The kernel's checkpatch, sparse, ruff."""
    done = run("make", "style")
    assert done.returncode == 0, done.stdout + done.stderr


# Unsupported kernels: one line says what is missing, and nothing is written.


@pytest.fixture
def headers(tmp_path):
    """A header package with all that the build checks before it reads the types."""
    real = next((REPO / "build" / "headers" / "usr" / "src").glob("linux-headers-6.12*[0-9]-amd64"))
    (tmp_path / "include" / "config").mkdir(parents=True)
    for name in ("Module.symvers", "include/config/auto.conf"):
        (tmp_path / name).write_text((real / name).read_text())
    return tmp_path


def refusal(kver: str, headers: Path, *options: str | Path) -> str:
    """Return what scripts/private-types prints instead of writing a header."""
    out = headers / "out.h"
    done = run(REPO / "scripts" / "private-types", kver, out, "--headers", headers, *options)
    assert done.returncode == 1
    assert not out.exists()
    assert done.stdout == ""
    assert done.stderr.startswith(f"htbs: kernel {kver}: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def drop(path: Path, word: str) -> None:
    """Remove the lines that have a word."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if word not in line))


@pytest.mark.parametrize("kver", ["5.10.0-30-amd64", "4.19.0"])
def test_too_old(kver, headers):
    assert "HTBS needs Linux 6.1 or later" in refusal(kver, headers)


def test_no_release(headers):
    assert "give KVER= as uname -r prints it" in refusal("newest", headers)


def test_no_headers(tmp_path):
    assert "install linux-headers-6.12.0-none" in refusal("6.12.0-none", tmp_path)


@pytest.mark.parametrize("option", ["CONFIG_BLK_CGROUP", "CONFIG_DEBUG_INFO_BTF"])
def test_lacks_an_option(option, headers):
    drop(headers / "include" / "config" / "auto.conf", f"{option}=")
    assert f"built without {option}" in refusal("6.12.0-x", headers)


def test_lacks_a_symbol(headers):
    drop(headers / "Module.symvers", "\tblkcg_activate_policy\t")
    assert "does not export blkcg_activate_policy" in refusal("6.12.0-x", headers)


def test_has_no_types(headers):
    """There is no vmlinux beside the headers, no running one, and none in /boot."""
    assert "install or upgrade linux-image-6.12.0-x" in refusal("6.12.0-x", headers)


def later(tmp_path: Path, old: str, new: str) -> Path:
    """Write the types of the newest kernel to a file, with a name replaced everywhere."""
    btf = read_btf(kernels.newest("7.3").image)
    old, new = (b"\0%s\0" % name.encode() for name in (old, new))
    assert old in btf and len(old) == len(new)
    (tmp_path / "btf").write_bytes(btf.replace(old, new))
    return tmp_path / "btf"


@pytest.fixture
def newest_headers(headers):
    """A header package of the newest kernel."""
    [real] = (REPO / "build/debian13/usr/src").glob("linux-headers-7.3*[0-9]-amd64")
    (headers / "Module.symvers").write_text((real / "Module.symvers").read_text())
    return headers


@pytest.mark.parametrize(("old", "new", "says"), [
    ("blk_insert_t", "blk_insert_x",
     "elevator_mq_ops.insert_requests() takes (blk_mq_hw_ctx, list_head, blk_insert_x), "
     "not (blk_mq_hw_ctx, list_head, blk_insert_t) as since 6.4"),
    ("root_blkg", "root_blkx", "struct request_queue has no root_blkg"),
    ("blkg_conf_ctx", "blkg_conf_xxx", "its BTF lacks blkg_conf_ctx"),
])  # fmt: skip
def test_later_kernel(old, new, says, newest_headers, tmp_path):
    """An interface unknown to HTBS is named, with the series for which it was known."""
    said = refusal("8.0.0-x", newest_headers, "--image", later(tmp_path, old, new))
    assert says in said
    assert "HTBS knows kernels from 6.1 to 7.3" in said


def test_headers_of_another_build(newest_headers):
    image = kernels.newest("6.12").image
    said = refusal(kernels.newest("6.12").version, newest_headers, "--image", image)
    assert "headers and image are of different builds" in said
