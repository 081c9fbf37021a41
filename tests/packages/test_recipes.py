"""Each command of docs/recipes.md, run as it is written there, in a guest with Debian 12.

The commands of a section succeed and print what the document shows. Its reservations are in force
in the cgroups and on the disks that it names. The kernel's counters show that the requests were
charged to these cgroups.
"""

import json
import re
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.documents import blocks
from tests.packages import image
from tests.packages.guest import boot, data_disks
from tests.vm.kernels import REPO

pytestmark = [pytest.mark.guest, pytest.mark.packages]

_HERE = Path(__file__).parent
# /dev/vdc to /dev/vdq, which steps-recipes.sh distributes to the sections.
_DISKS = [f"data-{letter}.img" for letter in "cdefghijklmnopq"]
_SERVICES = "/system.slice"


class Recipe(NamedTuple):
    """The shell blocks of a section, and the output that the document has for each."""

    commands: list[str]
    output: list[str]


def name_of(section):
    """Return the name of the section's functions in steps-recipes.sh."""
    return re.sub(r"\W+", "_", section.lower())


def recipes():
    """Return the sections of the document that have commands."""
    found = {}
    for block in blocks((REPO / "docs/recipes.md").read_text()):
        recipe = found.setdefault(name_of(block.section), Recipe([], []))
        if block.language == "sh":
            recipe.commands.append(block.text)
            recipe.output.append("")
        elif block.language == "text":
            recipe.output[-1] = block.text
    return found


RECIPES = recipes()


class Part(NamedTuple):
    """The output of a part of a section, and the counters noted in it, lastly those at its end."""

    text: str
    counters: list[dict]


def parts(text):
    """Return the parts of a section: setup, block N, after N, end."""
    found = re.split(r"(?m)^-- (.+)\n", text)
    return {
        name: Part(said, [json.loads(line) for line in re.findall("(?m)^counters: (.*)$", said)])
        for name, said in zip(found[1::2], found[2::2], strict=True)
    }


@pytest.fixture(scope="module")
def said():
    """The parts of each section, from one boot with a fresh disk."""
    subprocess.run(["make", "-s", "deb"], cwd=REPO, check=True, stdout=subprocess.DEVNULL)
    directory = image.BUILD / "packages" / "recipes-run"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    shutil.copy(image.make(image.RECIPES) / "disk.img", directory)
    recipes = run(directory, "install", *RECIPES)
    return recipes | run(directory, "without_memory", arguments="cgroup_disable=memory")


def run(directory, *steps, arguments=""):
    """Boot the disk of a directory and run some steps; return the parts of the recipes."""
    kver = image.only_kernel(directory)
    files = {
        f"{name}-{number}.sh": command.encode()
        for name, recipe in RECIPES.items()
        for number, command in enumerate(recipe.commands, 1)
    }
    files |= {"recipes": " ".join(RECIPES).encode()}
    files |= {name: (_HERE / name).read_bytes() for name in ("steps-recipes.sh", "counters.py")}
    data_disks(directory, *_DISKS)
    text = boot(directory, kver, *steps, files=files, arguments=arguments)
    sections = re.split(r"(?m)^== (\w+).*\n", text)
    return {
        name: parts(part)
        for name, part in zip(sections[1::2], sections[2::2], strict=True)
        if name in (*RECIPES, "without_memory")
    }


def missing(text, shown):
    """Return lines that a document shows and a text lacks; … stands for anything."""
    lines = [line.strip() for line in text.splitlines()]
    patterns = [re.sub(r"([\[*?])", r"[\1]", line).replace("…", "*") for line in shown.splitlines()]
    return [want for want in patterns if not any(fnmatch(line, want) for line in lines)]


def since(part, before, key, disk, group):
    """Return by how much a counter rose between the ends of two parts."""
    return of(part.counters[-1], group, disk, key) - of(before.counters[-1], group, disk, key)


def of(counters, group, disk, key):
    """Return a counter; 0 if the group has none."""
    return counters.get(group, {}).get(disk, {}).get(key, 0)


def reserved(counters, disk):
    """Return the groups with a reservation of their own on a disk, and its bw."""
    return {
        group: own[disk]["bw"]
        for group, own in counters.items()
        if "bw" in own.get(disk, {})
    }


@pytest.mark.parametrize("name", RECIPES)
def test_each_command_succeeds(said, name):
    for number in range(1, len(RECIPES[name].commands) + 1):
        text = said[name][f"block {number}"].text
        assert re.search(r"(?m)^exit: 0$", text), text


@pytest.mark.parametrize("name", RECIPES)
def test_commands_print_what_the_document_shows(said, name):
    for number, shown in enumerate(RECIPES[name].output, 1):
        text = said[name][f"block {number}"].text
        assert not missing(text, shown), text


def test_database_and_backup(said):
    """The database has its reservation and is not late; the backup has its cap."""
    first, last = (said["database_and_backup"][f"after {number}"] for number in (1, 2))
    database, backup = f"{_SERVICES}/database.service", f"{_SERVICES}/backup.service"
    for part in (first, last):
        assert reserved(part.counters[-1], "vdc") == {database: 800 << 10, backup: 4096}
        assert of(part.counters[-1], backup, "vdc", "max") == 20 << 20
        conforming = of(part.counters[-1], database, "vdc", "conforming")
        assert of(part.counters[-1], database, "vdc", "missed") <= conforming / 100
    assert since(last, first, "rbytes", "vdc", backup) > 1 << 20


def test_a_virtual_machine(said):
    """Reads of the domain are charged to its scope, which is another one after the next start."""
    parts = said["virtual_machines_under_libvirt"]
    scopes = []
    for part in (parts["after 1"], parts["after 2"]):
        [(scope, bw)] = reserved(part.counters[-1], "vdd").items()
        assert bw == 400 << 10
        assert fnmatch(scope, "/machine.slice/machine-qemu*.scope")
        assert of(part.counters[-1], scope, "vdd", "rios") > 0
        scopes.append(scope)
    assert scopes[0] != scopes[1]


def test_a_container(said):
    """Buffered writes of the container are charged to it, after a restart and in its successor."""
    parts = said["containers_with_podman"]
    scopes = []
    for part in (parts["after 1"], parts["after 2"], parts["after 3"]):
        [(scope, bw)] = reserved(part.counters[-1], "vde").items()
        assert bw == 800 << 10
        assert fnmatch(scope, "/machine.slice/libpod-*.scope")
        assert of(part.counters[-1], scope, "vde", "wbytes") > 256 << 10
        scopes.append(scope)
    assert scopes[0] == scopes[1] != scopes[2]


def test_an_nfs_server(said):
    """Reads and writes of clients are charged to the root, which has a reservation of its own."""
    before, after = (said["nfs_server"][f"after {number}"] for number in (1, 2))
    assert "nfs-server.service is active, but other units or kernel threads do" in before.text
    assert "reserve exits with 3" in before.text
    start, write, read, *_ = (before.counters[-1], *after.counters)
    for key in ("rbytes", "wbytes"):
        assert of(start, "/", "vdf", key) > 7 << 20
        assert of(read, "/", "vdf", key) - of(start, "/", "vdf", key) > 7 << 20
    slices = dict.fromkeys(("/system.slice", "/user.slice"), 1 << 20)
    assert reserved(read, "vdf") == {"/": 4 << 20} | slices
    assert of(write, "/", "vdf", "bw") == 4 << 20


def test_nfs_threads_that_are_moved(said):
    """Reads are charged to their cgroup; a file that is overwritten is charged to the root."""
    *_, wrote, read, again = said["nfs_server"]["after 2"].counters
    assert of(read, "/nfsd", "vdf", "rbytes") - of(wrote, "/nfsd", "vdf", "rbytes") > 7 << 20
    assert of(read, "/", "vdf", "rbytes") == of(wrote, "/", "vdf", "rbytes")
    assert of(again, "/", "vdf", "wbytes") - of(read, "/", "vdf", "wbytes") > 8 << 20


@pytest.mark.parametrize(
    ("number", "service", "disks"),
    [(1, "mail", ("vdg", "vdh")), (2, "scratch", ("vdi", "vdj"))],
)
def test_md_and_lvm(said, number, service, disks):
    """Each member has the reservation, and the writes of the service are charged to it there."""
    part = said["md_and_lvm"][f"after {number}"]
    group = f"{_SERVICES}/{service}.service"
    for disk in disks:
        assert reserved(part.counters[-1], disk) == {group: 800 << 10}
        wrote = of(part.counters[-1], group, disk, "wbytes")
        assert wrote > 10 * of(part.counters[-1], "/", disk, "wbytes") > -1
    assert {disk for disk in disks if of(part.counters[-1], group, disk, "wbytes")} == set(disks)


@pytest.mark.parametrize("disk", ["vdg", "vdh"])
def test_a_check_of_an_array(said, disk):
    """Like a resync, it is charged to the root."""
    before, after = (said["md_and_lvm"][f"after {number}"] for number in (1, 2))
    assert since(after, before, "rbytes", disk, "/") > 1 << 20


@pytest.mark.parametrize("disk", ["vdk", "vdl", "vdm"])
def test_parity_raid(said, disk):
    """Writes are charged to the cgroup of md's thread: the root, then the one it is moved to."""
    parts = said["parity_raid"]
    before, after, archive = parts["after 1"], parts["after 2"], f"{_SERVICES}/archive.service"
    assert of(before.counters[-1], "/", disk, "wbytes") > 64 << 10
    assert reserved(after.counters[-1], disk) == {"/md5": 4 << 20}
    assert since(after, before, "wbytes", disk, "/md5") > 64 << 10
    assert of(after.counters[-1], archive, disk, "wbytes") == 0


def test_parity_raid_of_lvm(said):
    """Its thread has another name, which explain knows."""
    assert "the thread mdX_raid5" in said["parity_raid"]["end"].text


def test_buffered_writes(said):
    """Charged to the group that dirtied the pages, even if its memory controller is not shown."""
    part = said["buffered_writes"]["after 1"]
    writer = f"{_SERVICES}/writer.service"
    assert reserved(part.counters[-1], "vdn") == {writer: 4 << 20}
    assert of(part.counters[-1], writer, "vdn", "wbytes") > 4 << 20
    assert "controllers: io\n" in part.text
    assert of(part.counters[-1], "/plain/writer", "vdn", "wbytes") > 15 << 20


def test_buffered_writes_without_the_memory_controller(said):
    """They are charged to the root, and explain says so."""
    part = said["without_memory"]["setup"]
    assert "its buffered writes are charged to the root" in part.text
    assert of(part.counters[-1], f"{_SERVICES}/writer.service", "vdn", "wbytes") == 0
    assert of(part.counters[-1], "/", "vdn", "wbytes") > 4 << 20
