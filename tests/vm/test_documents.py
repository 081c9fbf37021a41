"""The commands of the documents, run as they are written there."""

import pytest

from tests import documents
from tests.vm import Result
from tests.vm.functional import Boot, htbs_stat

pytestmark = pytest.mark.guest

NAMES = ("README.md", "docs/operating.md", "docs/debugging.md")
SCRIPTS = [script for name in NAMES for script in documents.scripts(name)]

GUEST = Boot(
    "documents",
    clock="real",
    files=tuple((f"{script.name}.sh", script.text) for script in SCRIPTS),
)


@pytest.mark.parametrize("name", [script.name for script in SCRIPTS])
def test_commands(result: Result, name: str) -> None:
    assert result.text(f"{name}.rc").strip() == "0", result.text(f"{name}.out")


def test_commands_print_what_the_document_says(result: Result) -> None:
    text = result.text("operating-01-give-a-cgroup-a-reservation.out")
    assert text.splitlines()[-1] == "8:16 bw=819200 burst=65536 latency=500000"
    assert "8:16\n" in text
    proof = result.text("README-02-the-first-reservation.out")
    assert proof.startswith("8:16 ")
    numbers = htbs_stat(proof)
    assert numbers["conforming"] > 0
    assert numbers["missed"] == 0
