"""Runs CPython's own tests of os.walk, os.fwalk and os.scandir against this package's.

The functions are replaced in `os` itself, so that everything in the standard library that calls
them (shutil, pathlib, glob) uses them while the tests run, too. Exit status 0 is success, 77 says
that this Python came without its tests.
"""

import os
import sys
import unittest

import ringwalk

# Tests that cannot apply, with the reason.
NOT_APPLICABLE = {}
if sys.version_info < (3, 12):
    # bytearray and memoryview as paths: deprecated there, a TypeError since, and in this package.
    NOT_APPLICABLE["TestScandir.test_bytes_like"] = "buffers as paths went with 3.12"

CLASSES = (
    "WalkTests",
    "FwalkTests",
    "BytesWalkTests",
    "BytesFwalkTests",
    "TestScandir",
    "TestDirEntry",
)


def load():
    try:
        from test import support, test_os
    except ImportError as error:
        print(f"no tests of CPython's here: {error}")
        sys.exit(77)
    support.verbose = False
    loader = unittest.TestLoader()
    suite = unittest.TestSuite()
    for name in CLASSES:
        for test in loader.loadTestsFromTestCase(getattr(test_os, name)):
            if test.id().removeprefix("test.test_os.") not in NOT_APPLICABLE:
                suite.addTest(test)
    return suite


def main():
    suite = load()
    os.walk, os.fwalk, os.scandir = ringwalk.walk, ringwalk.fwalk, ringwalk.scandir
    os.DirEntry = ringwalk.DirEntry
    os.supports_fd.add(ringwalk.scandir)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    print(f"{result.testsRun} tests, {len(result.skipped)} skipped")
    # Fewer than this, and the tests have been moved elsewhere.
    return 0 if result.wasSuccessful() and result.testsRun >= 56 else 1


if __name__ == "__main__":
    sys.exit(main())
