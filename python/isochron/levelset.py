"""Fronts that start on the zero set of values on a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError, UsageError
from .mesh import host_array as as_array
from .mesh import real_array
from .problem import Problem
from .sources import Sources


def level_set_sources(level_set: Any, problem: Problem) -> Sources:
    """The voxels beside the zero set, with the times that the front needs to get there.

    Along each axis the zero set crosses between two voxels of different sign, at a distance d_a by linear interpolation;
    the plane through those crossings is 1 / sqrt(sum of 1 / d_a^2) away. Both sides are sources, so that the front runs
    both ways, as on meshes.
    """
    grid = problem.mesh
    unknown = [name for name in ("metric", "velocity_tensor", "fibers") if name in problem.arguments]
    if unknown:
        raise UsageError(f"level_set on a grid goes with speed, not with {unknown[0]}; give voxels with onset times")
    if not np.allclose(grid.direction.T @ grid.direction, np.eye(grid.ndim)):
        raise InputError("level_set needs a grid whose axes are at right angles (direction is no rotation); use a mesh")
    values = grid.shaped(grid.flat(real_array(level_set, "level_set"), "level_set"))
    open_voxels = True if problem.mask is None else grid.shaped(grid.flat(problem.mask, "mask")) != 0
    if (np.isnan(values) & open_voxels).any():
        raise InputError("level_set holds NaN (the front may start there or not); replace it, or mask it out")
    inverse = inverse_squared_distances(values, grid.spacing)
    speed = as_array(problem.arguments.get("speed", 1.0))
    if speed.ndim > 0:
        speed = grid.shaped(grid.flat(speed, "speed"))
    with np.errstate(divide="ignore"):
        times = np.where(values == 0, 0.0, 1 / np.sqrt(inverse)) / speed
    chosen = np.isfinite(times) & open_voxels
    ids = np.flatnonzero(chosen.ravel(order=grid.order))
    if len(ids) == 0:
        raise InputError("level_set has no zero set inside the grid (its sign never changes); give another")
    return ContourSources(ids, times.ravel(order=grid.order)[ids])


class ContourSources(Sources):
    """Voxels beside a zero set. Their onsets depend on the speed."""

    __slots__ = ()


def inverse_squared_distances(values: np.ndarray, spacing: np.ndarray) -> np.ndarray:
    """Sum over the axes of one over the squared distance to the nearer crossing; 0 where there is none. NaN crosses
    nothing."""
    total = np.zeros(values.size)
    below = values < 0
    above = values > 0
    ids = np.arange(values.size).reshape(values.shape)
    flat = values.ravel()
    for axis, step in enumerate(spacing):
        low, high = [slice(None)] * values.ndim, [slice(None)] * values.ndim
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        here, there = tuple(low), tuple(high)
        crosses = (below[here] & above[there]) | (above[here] & below[there])
        first, second = ids[here][crosses], ids[there][crosses]
        share = flat[first] / (flat[first] - flat[second])  # of the way from the lower voxel to the upper one
        near = np.zeros(values.size)
        near[first] = 1 / (share * step) ** 2  # a voxel is the lower one of at most one crossing along an axis
        near[second] = np.maximum(near[second], 1 / ((1 - share) * step) ** 2)
        total += near
    return total.reshape(values.shape)
