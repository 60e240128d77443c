"""Helpers of the end-to-end tests: trees, mounts, running programs."""

from pathlib import Path

import pytest

# The repository.
ROOT = Path(__file__).resolve().parents[2]


def long(*values: object) -> list:
    """Returns these as parameters of a test that only `make test-long` tries."""
    return [pytest.param(value, marks=pytest.mark.long) for value in values]
