"""Turn pytest's results for a kernel into the cells of its line."""

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

_COLUMNS = ("functional", "conformance", "faults")


def column(test: ET.Element) -> str:
    """Return the column that a test belongs to."""
    module = test.get("classname", "")
    if module.startswith("tests.faults"):
        return "faults"
    return "conformance" if "conformance" in module else "functional"


def outcome(test: ET.Element) -> str:
    """Return the outcome of a test."""
    kinds = {child.tag for child in test}
    if kinds & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in kinds else "passed"


def cells(report: Path) -> dict[str, str]:
    """Return for each column how many of how many passed, and what did not; "-" if it has none."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in _COLUMNS}
    for test in ET.parse(report).getroot().iter("testcase"):
        counts[column(test)][outcome(test)] += 1
    return {name: _cell(count) for name, count in counts.items()}


def failed(report: Path) -> list[str]:
    """Return the names of tests that did not pass."""
    tests = ET.parse(report).getroot().iter("testcase")
    return [f"{t.get('classname')}::{t.get('name')}" for t in tests if outcome(t) == "failed"]


def _cell(count: Counter[str]) -> str:
    if not count:
        return "-"
    others = [f"{count[kind]} {kind}" for kind in ("failed", "skipped") if count[kind]]
    total = f" of {count.total()}" if others else ""
    return ", ".join([f"{count['passed']}{total} passed", *others])
