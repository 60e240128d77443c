"""Reads a tree with the installed package, and compares it with what os.walk finds."""

import os
import sys

import ringwalk

top = sys.argv[1]
expected = {
    os.path.join(folder, name)
    for folder, folders, files in os.walk(top)
    for name in folders + files
}
found = set(ringwalk.find(top, "-mindepth", "1"))
assert found == expected, (found, expected)
with ringwalk.scan([top], ["name", "size"]) as scan:
    rows = sum(len(batch) for batch in scan)
assert rows >= len(expected), rows
assert not ringwalk.du(top).errors
print(ringwalk.__file__, rows)
