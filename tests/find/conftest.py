"""Fixtures of the tests of `ringwalk find`."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def here(menagerie: Path) -> dict:
    """Options of a run in the directory that expressions name their files relative to."""
    return {"cwd": menagerie}
