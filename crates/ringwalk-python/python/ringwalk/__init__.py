"""Reads directory trees at the speed the kernel and the disk allow."""

from ringwalk._ringwalk import __version__
from ringwalk._walk import walk

__all__ = ["__version__", "walk"]
