"""The generators around the compiled iterators."""

import os

from ringwalk._ringwalk import Walk


def walk(top, topdown=True, onerror=None, followlinks=False):
    walking = Walk(os.fspath(top), bool(topdown), onerror, bool(followlinks))
    try:
        yield from walking
    finally:
        walking.close()
