"""Converts path-like objects to `str` or `bytes` before a call of the compiled module.

Code in Python may have to wait for the interpreter at any time. When the interpreter ends, a daemon
thread waits for ever, or is ended. Before Python 3.14 a thread that is ended below compiled code of
this package would end the process. So this module runs the Python code of objects above that code.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def plain(path: Any) -> Any:
    """Returns the path of a path-like object; everything else unchanged."""
    return os.fspath(path) if hasattr(type(path), "__fspath__") else path


def all_plain(paths: Any) -> Any:
    """Returns one path, or a list of those in an iterable; everything else unchanged."""
    is_one = isinstance(paths, str | bytes | os.PathLike) or not isinstance(paths, Iterable)
    return plain(paths) if is_one else [plain(path) for path in paths]


def public(name: str, convert: Callable[[Any], Any] = plain) -> Callable[[_Function], _Function]:
    """Returns a decorator: the public function for a compiled one with this first argument."""

    def decorate(function):
        def call(*arguments, **options):
            if arguments:
                arguments = convert(arguments[0]), *arguments[1:]
            elif name in options:
                options[name] = convert(options[name])
            return function(*arguments, **options)

        call.__name__ = call.__qualname__ = function.__name__
        call.__doc__ = function.__doc__
        call.__module__ = "ringwalk"
        call.__wrapped__ = function
        return call

    return decorate
