"""README.md has the numbers of the results that it quotes."""

from pathlib import Path

from results import readme

README = Path(__file__).parents[2] / "README.md"


def test_readme_quotes_the_summaries() -> None:
    """Compare tables as they are printed, and sentences independent of their line breaks."""
    text = " ".join(README.read_text().split())
    every = [" ".join(part.split()) for part in readme.parts()]
    assert len(every) > 5
    missing = [part for part in every if part not in text]
    assert not missing, "python -m results.readme prints them"
