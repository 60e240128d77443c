"""Marks of tests."""

import pytest


def long(*values: object) -> list:
    """Returns these as parameters of a test that only `make test-long` tries."""
    return [pytest.param(value, marks=pytest.mark.long) for value in values]
