"""The same settings as in tests/unit."""

from tests.unit import strategies

strategies.load_profile()
