"""JSON that may hold anything: a right checksum says nothing of the types of values."""

from __future__ import annotations

import json
import math
import reprlib
from typing import Any

# Sizes, positions and numbers of things.
NUMBER = range(1 << 63)


def parsed(data: bytes) -> Any:
    """Returns the value of a JSON text. Raises `ValueError` if it is invalid or too deep."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _are_within(values: list[Any], shape: Any) -> bool:
    """Returns true if all values are integers of a range. A line of a log may have thousands, which
    would take twice the time one by one.
    """
    if not isinstance(shape, range) or not set(map(type, values)) <= {int}:
        return False
    return not values or (min(values) in shape and max(values) in shape)


def shaped(value: Any, shape: Any) -> Any:
    """Returns a value that has this shape. Raises `ValueError` if it has another one.

    | shape | value |
    |---|---|
    | `range(n)` | an integer in it |
    | `float` | a finite number |
    | `str`, `bool` | a value of this type |
    | `[shape]` | a list, whose values have the shape |
    | `(shape, shape)` | a list with a value of each shape; returned as a tuple |
    | `{name: shape}` | an object that has these members, and perhaps others |
    """
    if isinstance(shape, range):
        # Its type: `True` is an `int`.
        fits = type(value) is int and value in shape
    elif shape is float:
        fits = type(value) in (int, float) and math.isfinite(value)
    elif isinstance(shape, list):
        if (fits := isinstance(value, list)) and not _are_within(value, shape[0]):
            for each in value:
                shaped(each, shape[0])
    elif isinstance(shape, tuple):
        if fits := isinstance(value, list) and len(value) == len(shape):
            value = tuple(map(shaped, value, shape))
    elif isinstance(shape, dict):
        if fits := isinstance(value, dict) and value.keys() >= shape.keys():
            for name, inner in shape.items():
                shaped(value[name], inner)
    else:
        fits = isinstance(value, shape)
    if not fits:
        raise ValueError(f"unexpected value {reprlib.repr(value)}")
    return value
