"""What callers give, checked where it comes in: what is wrong with an argument is told in one line that names it."""

from __future__ import annotations

import operator
from typing import Any

from .errors import UsageError


def number(value: Any, name: str) -> float:
    """A real number; NumPy's are numbers too, strings are not."""
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise UsageError(f"{name} is {value!r} (a {type(value).__name__}); give a number")


def whole(value: Any, name: str) -> int:
    """A whole number."""
    try:
        return operator.index(value)
    except TypeError:
        raise UsageError(f"{name} is {value!r} (a {type(value).__name__}); give a whole number") from None


def no_others(given: dict[str, Any], known: Any, function: str) -> None:
    """Raises what Python raises for keyword arguments that are not known."""
    for name in given:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
