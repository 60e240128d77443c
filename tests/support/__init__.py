"""Helpers of the end-to-end tests: trees, mounts, running programs."""

from pathlib import Path

# The repository.
ROOT = Path(__file__).resolve().parents[2]
