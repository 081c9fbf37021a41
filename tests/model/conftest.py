"""Load the Hypothesis settings of tests/unit."""

from tests.unit import strategies

strategies.load_profile()
