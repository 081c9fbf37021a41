"""No link in the documents is dead, and each command in them exists."""

import re
import subprocess

import pytest

from htbsctl.__main__ import COMMANDS
from tests.documents import blocks
from tests.vm.kernels import REPO

_PLACES = "*.md", "ansible/*.md", "docs/*.md", "results/**/*.md"
DOCUMENTS = sorted(path for place in _PLACES for path in REPO.glob(place))
_CODE = re.compile(r"(?ms)^```.*?^```|`[^`]*`")


def anchors(text):
    """Return the anchors that GitHub makes of headings."""
    heads = re.findall(r"(?m)^#+ (.*)$", text)
    return {
        re.sub(r"[^\w\- ]", "", head.replace("`", "").lower()).replace(" ", "-") for head in heads
    }


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPO)))
def test_links(path):
    text = path.read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", _CODE.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text()), link


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPO)))
def test_commands(path):
    makefile = (REPO / "Makefile").read_text()
    targets = set(re.findall(r"(?m)^([a-z][\w-]*):", makefile))
    for target in re.findall(r"`make ([a-z][\w-]*)", path.read_text()):
        assert target in targets, f"make {target}"
    for command in re.findall(r"(?m)(?:^    |`)htbsctl ([a-z]+)", path.read_text()):
        assert command in COMMANDS, f"htbsctl {command}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPO)))
def test_blocks_of_shell(path):
    """Bash can parse each block, and each command of htbsctl in it exists."""
    for block in blocks(path.read_text()):
        if block.language != "sh":
            continue
        done = subprocess.run(
            ["bash", "-n"], input=block.text, capture_output=True, text=True, check=False
        )
        assert not done.stderr, block.text
        for command in re.findall(r"\bhtbsctl ([a-z]+)", block.text):
            assert command in COMMANDS, f"htbsctl {command}"


def test_messages_of_the_kernels_log():
    """The page of the log has all messages, except for disks and numbers."""
    page = " ".join((REPO / "sysfs/ABI/tracing-htbs").read_text().split())
    sources = [path for top in ("htbs", "sysfs") for path in sorted(REPO.glob(f"{top}/**/*.c"))]
    text = "\n".join(path.read_text() for path in sources)
    calls = re.findall(r"\bpr_(?!fmt\b)\w+\(\s*(.*)", text)
    assert calls
    for call in calls:
        message = re.fullmatch(r'"(.*)\\n",?.*', call)
        assert message, f"a message in one line: {call}"
        for part in re.split(r"%\w+", message[1]):
            assert part.strip(": ") in page, message[1]
