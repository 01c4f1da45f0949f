"""The exceptions that Isochron raises. Each message is one line: problem (why); what to do."""

from __future__ import annotations

import os
import sys
import warnings


class Error(Exception):
    """Base of everything that Isochron raises on purpose."""


class InputError(Error, ValueError):
    """The data is wrong: a mesh, a metric, a source, a file."""


class UsageError(Error, ValueError):
    """The arguments make no sense together, whatever the data."""


class NoAnswerError(Error, RuntimeError):
    """The question has no answer: nothing was reached, no path exists."""


class RuntimeFailure(Error, RuntimeError):
    """Something outside failed: a full disk, a file that cannot be written."""


class DeviceError(RuntimeFailure):
    """A GPU is missing, failed, or has too little memory."""


class Cancelled(Error, RuntimeError):
    """The work was stopped by a signal that Python did not turn into an exception of its own."""


class SolveWarning(UserWarning):
    """What the user of a result should know: a raised precision, a solve that did not converge."""


class IndexWarning(UserWarning):
    """Voxel ids that look like one index."""


def tell(text: str, category: type[Warning]) -> None:
    """Warns at the caller's line, however deep in the package this is."""
    folder, level, frame = os.path.dirname(__file__), 2, sys._getframe(1)
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == folder:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
