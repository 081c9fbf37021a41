"""A fixed number of fuzzer runs for each part of the core; `make fuzz` does more."""

import pytest

from tests.fuzz import fuzz, properties
from tests.unit.strategies import part

RUNS = {"admission": 60_000, "policy": 70_000}
SEED = 1


@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_fuzz(name: str) -> None:
    """Every flow is in its place, every sum is exact, every choice follows the rule."""
    runs = part(RUNS[name])
    assert f"Done {runs} runs" in fuzz.build(name).fuzz(SEED, f"-runs={runs}")


@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_corpus_is_small(name: str) -> None:
    """A corpus has at most 50 files and 100 KiB."""
    sizes = [path.stat().st_size for path in (fuzz.CORPUS / name).iterdir()]
    assert 0 < len(sizes) <= 50
    assert sum(sizes) <= 100 * 1024


def test_fresh_examples() -> None:
    """Properties hold for other examples than those that `make test` draws each time."""
    assert "1 passed" in properties.run(SEED, "tests/unit/test_parts.py::test_a_tag_is_exact")
