"""The table of kernels in docs/testing.md: a line replaces that of the same kernel, others stay."""

from tests.kernels.cells import cells, failed
from tests.kernels.table import Line, read, update
from tests.vm.kernels import REPO

TEXT = "before\n<!-- written by make test-kernels -->\n| a |\n|---|\n<!-- end -->\nafter\n"


def line(distribution: str, flavour: str, release: str, functional: str = "4 passed") -> Line:
    return Line(distribution, flavour, f"`{release}`", "no warning", functional, "-", "-")


OLD = line("Debian 12, 6.1", "amd64", "6.1.0-1-amd64")
NEW = line("Debian 12, 6.1", "amd64", "6.1.0-2-amd64", "3 of 4 passed, 1 failed")
SEVEN = line("Debian 13, 7.3", "amd64", "7.3.4+deb13-amd64")
TWELVE = line("Debian 12, 6.12", "amd64", "6.12.9+deb12-amd64")


def test_a_written_table_is_read() -> None:
    assert read(update(TEXT, [OLD, SEVEN])) == [OLD, SEVEN]


def test_a_later_release_replaces_the_earlier() -> None:
    text = update(update(TEXT, [SEVEN, OLD]), [NEW])
    assert read(text) == [NEW, SEVEN]


def test_lines_are_in_order_of_age() -> None:
    assert read(update(TEXT, [SEVEN, TWELVE, OLD])) == [OLD, TWELVE, SEVEN]


def test_the_text_around_stays() -> None:
    text = update(TEXT, [OLD])
    assert text.startswith("before\n<!--")
    assert text.endswith("-->\nafter\n")


def test_cells(tmp_path) -> None:
    """A cell has the number of failed, broken and skipped tests, and the total."""
    report = tmp_path / "report.xml"
    report.write_text("""<testsuites><testsuite>
        <testcase classname="tests.vm.test_cap" name="one"/>
        <testcase classname="tests.vm.test_cap" name="two"><error/></testcase>
        <testcase classname="tests.vm.test_cap" name="three"><skipped/></testcase>
        <testcase classname="tests.vm.test_conformance_queues" name="all"/>
        </testsuite></testsuites>""")
    assert cells(report) == {
        "functional": "1 of 3 passed, 1 failed, 1 skipped",
        "conformance": "1 passed",
        "faults": "-",
    }
    assert failed(report) == ["tests.vm.test_cap::two"]


def test_the_document_has_no_failure() -> None:
    lines = read((REPO / "docs/testing.md").read_text())
    assert not [line for line in lines if "failed" in str(line)]
