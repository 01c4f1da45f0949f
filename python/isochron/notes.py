"""What the user of a result should know, told as warnings that point to the user's own code."""

from __future__ import annotations

import sys
import warnings
from typing import Iterable

from .errors import SolveWarning


def tell(notes: Iterable[str]) -> None:
    """Warns of each at the first caller outside this package."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    for note in notes:
        warnings.warn(note, SolveWarning, stacklevel=level)
