"""Checks of what callers give: the error for a wrong argument is one line that names it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .errors import UsageError


def number(value: Any, name: str) -> float:
    """A real number; NumPy's are numbers too, strings are not."""
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise UsageError(f"{name} is {value!r} (a {type(value).__name__}); give a number")


def whole(value: Any, name: str, least: int = -(2**31), most: int = 2**31 - 1) -> int:
    """A whole number from `least` to `most`."""
    try:
        found = operator.index(value)
    except TypeError:
        raise UsageError(f"{name} is {value!r} (a {type(value).__name__}); give a whole number") from None
    if not least <= found <= most:
        raise UsageError(f"{name} is {value!r}; give a whole number from {least} to {most}")
    return found


def wholes(values: Any, name: str) -> list[int]:
    """One whole number or several."""
    try:
        several = [values] if isinstance(values, (str, bytes)) else list(values)
    except TypeError:
        several = [values]
    if not several:
        raise UsageError(f"{name} is empty; give one whole number or several")
    return [whole(one, name) for one in several]


def flag(value: Any, name: str) -> bool:
    """True or False; NumPy's and numbers too."""
    if not isinstance(value, (bool, int, np.bool_, np.integer)):
        raise UsageError(f"{name} is {value!r} (a {type(value).__name__}); give True or False")
    return bool(value)


def no_others(given: dict[str, Any], known: Any, function: str) -> None:
    """Raises what Python raises for keyword arguments that are not known."""
    for name in given:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
