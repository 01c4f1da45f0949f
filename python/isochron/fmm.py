"""Distances and travel times from the zero contour of an array, called as in scikit-fmm."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .arguments import no_others
from .errors import InputError, UsageError
from .grid import Grid, steps
from .levelset import inverse_squared_distances
from .mesh import real_array
from .problem import METRIC_ARGUMENTS
from .solving import SOLVER_ARGUMENTS, solve
from .sources import Sources

#: Options of the solves that both functions hand on.
_OPTIONS = (SOLVER_ARGUMENTS | {"progress"}) - set(METRIC_ARGUMENTS) - {"mask", "labels", "order", "out", "weights"}


def distance(phi: Any, dx: float | Sequence[float] = 1.0, order: int = 2, **options: Any) -> np.ndarray:
    """Signed distance from the zero contour of ``phi``, negative where phi is negative.

    ``phi`` is an array of two or three dimensions, masked where the front may not pass; ``dx`` its spacing, one or one
    per axis. Like ``skfmm.distance``, but where that masks voxels that nothing reaches they are infinite with the sign of
    phi: inf outside the contour, -inf inside. Masked voxels too. Options are those of `Solver` for grids.

    >>> import isochron, numpy as np
    >>> x = np.linspace(-1, 1, 41)
    >>> round(float(isochron.distance(np.add.outer(x, 0 * x), dx=0.05)[0, 0]), 6)
    -1.0
    """
    _check_options(options, "distance")
    values, mask, grid = _arguments(phi, dx)
    times = _solve(values, mask, grid, None, order, options)
    return np.where(values < 0, -times, times)


def travel_time(phi: Any, speed: Any, dx: float | Sequence[float] = 1.0, order: int = 2, **options: Any) -> np.ndarray:
    """Travel time from the zero contour of ``phi`` at ``speed``, an array of the same shape.

    Like ``skfmm.travel_time``; voxels where the speed is 0, masked ones and those that nothing reaches are inf.

    >>> import isochron, numpy as np
    >>> x = np.linspace(-1, 1, 41)
    >>> round(float(isochron.travel_time(np.add.outer(x, 0 * x), np.full((41, 41), 2.0), dx=0.05)[0, 0]), 6)
    0.5
    """
    _check_options(options, "travel_time")
    values, mask, grid = _arguments(phi, dx)
    rate = real_array(np.ma.getdata(speed), "speed")
    if rate.shape != values.shape:
        raise InputError(f"speed has the wrong shape (it is {rate.shape}); give an array of shape {values.shape}")
    closed = np.ma.getmaskarray(speed) | (rate == 0)
    if not (np.isfinite(rate) & (rate > 0) | closed).all():
        raise InputError("speed holds NaN, infinite or negative values; mask them, or replace them")
    if closed.any():
        mask = ~closed if mask is None else mask & ~closed
        rate = np.where(closed, 1.0, rate)
    return _solve(values, mask, grid, rate, order, options)


def _check_options(options: dict[str, Any], function: str) -> None:
    if "mask" in options:
        raise UsageError(f"mask does not go with {function}() (phi has its own); give phi as a masked array")
    no_others(options, _OPTIONS, function)


def _arguments(phi: Any, dx: Any) -> tuple[np.ndarray, np.ndarray | None, Grid]:
    values = real_array(np.ma.getdata(phi), "phi")
    if values.ndim not in (2, 3):
        raise InputError(f"phi has {values.ndim} dimensions; give an array of two or three")
    masked = np.ma.getmaskarray(phi)
    mask = ~masked if masked.any() else None
    inside = values if mask is None else values[mask]
    if not np.isfinite(inside).all():
        raise InputError("phi holds NaN or infinite values; mask them, or replace them")
    if inside.size == 0 or not ((inside <= 0).any() and (inside >= 0).any()):
        raise InputError("phi has no zero contour (all its values have one sign); give one that changes its sign")
    return values, mask, Grid(values.shape, steps(dx, "dx", values.ndim))


def _solve(
    phi: np.ndarray, mask: np.ndarray | None, grid: Grid, speed: np.ndarray | None, order: int, options: dict[str, Any]
) -> np.ndarray:
    """Each side of the contour by itself, from the voxels on both sides of it: those across the contour have times before
    0, so that differences over it are smooth."""
    onset = _contour_distance(phi, grid.spacing, mask)
    if speed is not None:
        onset /= speed
    near = np.isfinite(onset)
    latest = float(onset[near].max())
    result = np.full(phi.shape, np.inf)
    for side in (phi >= 0, phi < 0):
        if not side.any():
            continue
        ids = np.flatnonzero(near)
        times = np.where(side.ravel()[ids], onset.ravel()[ids], -onset.ravel()[ids])
        where = side | near if mask is None else (side | near) & mask
        arrival = solve(grid, Sources(ids, times + latest), speed=speed, mask=where, order=order, labels=False, **options)
        np.copyto(result, arrival.times - latest, where=side)
    np.copyto(result, onset, where=near)
    return result


def _contour_distance(phi: np.ndarray, spacing: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """The distance to the zero contour of voxels beside it; inf elsewhere."""
    values = phi if mask is None else np.where(mask, phi, np.nan)
    with np.errstate(divide="ignore"):
        result = 1 / np.sqrt(inverse_squared_distances(values, spacing))
    result[values == 0] = 0
    return result
