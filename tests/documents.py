"""The fenced blocks of a document, and its commands as scripts, run as they are written there."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.vm.kernels import REPO

_FENCE = re.compile(r"```(\w*)")


class Block(NamedTuple):
    """A fenced block: the heading of its section, its language, and its text."""

    section: str
    language: str
    text: str


class Script(NamedTuple):
    """A block of commands; its name has the document, the number from 1 and the section."""

    name: str
    text: str


def blocks(document: str) -> Iterator[Block]:
    """Yield all blocks of a document; a # within a block is no heading."""
    section, inside = "", None
    for line in document.splitlines():
        fence = _FENCE.match(line)
        if fence and inside is None:
            inside = (fence[1], [])
        elif fence:
            yield Block(section, inside[0], "".join(f"{each}\n" for each in inside[1]))
            inside = None
        elif inside is not None:
            inside[1].append(line)
        elif line.startswith("#"):
            section = line.lstrip("# ")


def scripts(name: str) -> list[Script]:
    """Return the shell blocks of a document below the repository."""
    path = REPO / name
    shell = [block for block in blocks(path.read_text()) if block.language == "sh"]
    return [
        Script(f"{Path(name).stem}-{number:02}-{_slug(block.section)}", block.text)
        for number, block in enumerate(shell, 1)
    ]


def _slug(section: str) -> str:
    return re.sub(r"\W+", "-", section.lower()).strip("-")
