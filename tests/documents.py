"""The commands that a document has in its fences, to be run as they stand there."""

import re
from pathlib import Path
from typing import NamedTuple

from tests.vm.kernels import REPO

_FENCE = re.compile(r"(?ms)^(?:#+ (?P<head>[^\n]*)$|```(?P<language>\w+)\n(?P<text>.*?)^```$)")


class Block(NamedTuple):
    """A block of commands: its number in the document from 1, the heading above it, its text."""

    number: int
    section: str
    text: str


def blocks(name: str) -> list[Block]:
    """The blocks of a document below the repository that are fenced as sh."""
    found: list[Block] = []
    section = ""
    for match in _FENCE.finditer((REPO / name).read_text()):
        if match["head"]:
            section = match["head"]
        elif match["language"] == "sh":
            found.append(Block(len(found) + 1, section, match["text"]))
    return found


def slug(block: Block) -> str:
    """A name for a block's file: its number and its heading."""
    return f"{block.number:02}-" + re.sub(r"\W+", "-", block.section.lower()).strip("-")


def scripts(name: str) -> dict[str, bytes]:
    """Of each block of a document, the file that it is run as, with its text."""
    stem = Path(name).stem
    return {f"{stem}-{slug(block)}.sh": block.text.encode() for block in blocks(name)}
