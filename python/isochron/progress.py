"""Progress callbacks: a function of the share done, or a bar in the manner of tqdm."""

from __future__ import annotations

from typing import Any, Callable

from .errors import UsageError


class _Bar:
    """Feeds a bar that counts up to its total."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.total = float(getattr(bar, "total", None) or 1.0)
        self.shown = 0.0

    def __call__(self, fraction: float) -> None:
        now = fraction * self.total
        if now > self.shown:
            self.bar.update(now - self.shown)
            self.shown = now


class reporting:
    """Turns what the caller gave as ``progress`` into the callback that the library calls, for the time of a block.

    A function is called with the share done, from 0 to 1. A bar (an object with ``update``) is advanced up to its
    total. A class of bars, like ``tqdm``, is asked for a bar of total 1, which is closed at the end.
    """

    def __init__(self, progress: Any) -> None:
        self.callback: Callable[[float], Any] | None = None
        self._bar: Any = None
        if progress is None:
            return
        if isinstance(progress, type) and hasattr(progress, "update"):
            self._bar = progress(total=1.0)
            self.callback = _Bar(self._bar)
        elif hasattr(progress, "update"):
            self.callback = _Bar(progress)
        elif callable(progress):
            self.callback = progress
        else:
            raise UsageError(f"progress is {progress!r}; give a function of the share done, a bar or a class of bars")

    def __enter__(self) -> Callable[[float], Any] | None:
        return self.callback

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()
