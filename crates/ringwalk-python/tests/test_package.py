"""The package as it is installed."""

import importlib.metadata
import pathlib

import ringwalk


def test_version_is_the_packages():
    assert ringwalk.__version__ == importlib.metadata.version("ringwalk")


def test_types_are_installed():
    package = pathlib.Path(ringwalk.__file__).parent
    assert (package / "py.typed").exists()
    assert (package / "_ringwalk.pyi").exists()
