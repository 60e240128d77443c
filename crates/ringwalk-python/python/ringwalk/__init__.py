"""Reads directory trees at the speed the kernel and the disk allow."""

from ringwalk._ringwalk import DirEntry, __version__, scandir
from ringwalk._walk import fwalk, walk

__all__ = ["DirEntry", "__version__", "fwalk", "scandir", "walk"]
