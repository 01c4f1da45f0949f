"""The exceptions that Isochron raises. Each message is one line: problem (why); what to do."""

from __future__ import annotations

import os
import sys
import warnings


class Error(Exception):
    """Base of everything that Isochron raises on purpose.

    ``kind`` is "runtime", "device", "usage", "input", "no_answer" or "cancelled". What the message names is there as a
    value too, else None: ``subject``, the argument that the metric was given by; ``index``, the id of the first bad vertex
    or element or the index of the first bad voxel; ``file``, the name of the file.
    """

    kind = "runtime"
    subject: str | None = None
    index: int | tuple[float, ...] | None = None
    file: str | None = None


class InputError(Error, ValueError):
    """The data is wrong: a mesh, a metric, a source, a file."""

    kind = "input"


class UsageError(Error, ValueError):
    """The arguments make no sense together, whatever the data."""

    kind = "usage"


class NoAnswerError(Error, RuntimeError):
    """The question has no answer: nothing was reached, no path exists."""

    kind = "no_answer"


class RuntimeFailure(Error, RuntimeError):
    """Something outside failed: a full disk, a file that cannot be written."""


class DeviceError(RuntimeFailure):
    """A GPU is missing, failed, or has too little memory."""

    kind = "device"


class Cancelled(Error, RuntimeError):
    """The work was stopped by a signal that Python did not turn into an exception of its own."""

    kind = "cancelled"


class SolveWarning(UserWarning):
    """What the user of a result should know: a raised precision, a solve that did not converge."""


class IndexWarning(UserWarning):
    """Voxel ids that look like one index."""


def warn(text: str, category: type[Warning]) -> None:
    """Warns at the caller's line, however deep in the package this is."""
    folder, level, frame = os.path.dirname(__file__), 2, sys._getframe(1)
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == folder:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
