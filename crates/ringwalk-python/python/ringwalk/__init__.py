"""Reads directory trees at the speed the kernel and the disk allow."""

from ringwalk._ringwalk import __version__

__all__ = ["__version__"]
