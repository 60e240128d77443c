"""Helpers of the end-to-end tests: trees, mounts, running programs."""
