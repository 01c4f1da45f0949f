"""Rays and geodesics back to the source, and gradients of the times."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .arguments import flag, number, whole
from .arrival import Arrival
from .errors import NoAnswerError, UsageError
from .grid import Grid
from .mesh import Mesh, in_space
from .mesh import host_array as as_array
from .progress import reporting
from .sources import as_places, warn_of_index


class Path:
    """A polyline from where it was asked for back to the source.

    ``points`` has shape (K, 3), on flat grids (K, 2); ``times`` is when the front passes each of them; ``length`` is in
    the unit of the coordinates; ``travel_time`` is by the metric along the path; ``source`` is the index of the source.
    """

    __slots__ = ("points", "times", "length", "travel_time", "source")

    def __init__(self, points: np.ndarray, times: np.ndarray, length: float, travel_time: float, source: int) -> None:
        self.points = points
        self.times = times
        self.length = length
        self.travel_time = travel_time
        self.source = source

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"Path({len(self)} points, length {self.length:.6g}, travel time {self.travel_time:.6g})"


def path_from_core(found: dict, flat: bool = False) -> Path:
    """A Path from what the library traced."""
    points = found["points"][:, :2] if flat else found["points"]
    return Path(points, found["times"], found["length"], found["travel_time"], found["source"])


def trace_path(
    arrival: Arrival,
    to: Any,
    *,
    shorten: bool = True,
    tolerance: float | None = None,
    threads: int = 0,
    progress: Any = None,
) -> Path | list[Path | None]:
    """The way by which the front came to a place, from there back to the source.

    ``to`` is a vertex or voxel id, a position, or several of them (ids (K,), positions (K, 3), or on grids indices
    (K, ndim)); several give a list, with None for places that nothing reached or outside the mask. A single such place
    raises `NoAnswerError`. ``shorten=False`` leaves the way as the times' characteristics give it. Positions may be
    ``tolerance`` away from a mesh (default: a hundredth of its diagonal). Several are traced side by side.

    >>> import isochron
    >>> arrival = isochron.solve(isochron.Grid((50, 50)), sources=[[0.0, 0.0]])
    >>> path = isochron.trace_path(arrival, [30.0, 40.0])
    >>> round(path.length, 6), path.points[-1]
    (50.0, array([0., 0.]))
    """
    mesh = _solved(arrival).mesh
    warn_of_index(to, mesh, "to")
    places = as_array(to)
    flat = _is_flat(mesh)
    single = places.ndim == 0 or (places.ndim == 1 and places.dtype.kind == "f" and len(places) in (2, 3))
    asked = as_places(np.atleast_1d(places) if places.ndim == 0 else places, "to", mesh)
    shorten = flag(shorten, "shorten")
    if tolerance is not None:
        tolerance = number(tolerance, "tolerance")
    else:
        tolerance = 0.0 if isinstance(mesh, Grid) else 0.01 * float(np.linalg.norm(np.ptp(mesh.points, axis=0)))
    times = np.asarray(arrival.times)
    rows = mesh.flat(times, "times") if isinstance(mesh, Grid) else times
    with reporting(progress) as callback:
        found = _core.trace_paths(
            arrival.problem.core,
            rows,
            arrival.sources._core(arrival.problem.vertices),
            asked.vertices,
            None if asked.points is None else in_space(np.atleast_2d(np.asarray(asked.points, dtype=np.float64))),
            tolerance,
            shorten,
            whole(threads, "threads", 0),
            callback,
        )
    if not single:
        return [None if one["why"] else path_from_core(one, flat) for one in found]
    if found[0]["why"]:
        raise NoAnswerError(found[0]["why"])
    return path_from_core(found[0], flat)


def _solved(arrival: Any) -> Arrival:
    if not isinstance(arrival, Arrival):
        raise UsageError(f"arrival is a {type(arrival).__name__}; give what solve returns")
    return arrival


def _is_flat(mesh: Mesh | Grid) -> bool:
    return mesh.ndim == 2 if isinstance(mesh, Grid) else mesh.points.shape[1] == 2


def gradient(arrival: Arrival) -> np.ndarray:
    """The gradient of the times: on meshes one per element, (M, 3), where the times are linear; on grids one per voxel,
    of shape ``grid.shape + (ndim,)`` in world coordinates, by central differences (one-sided beside voxels that nothing
    reached). NaN where it is not known.

    >>> import isochron
    >>> arrival = isochron.solve(isochron.Grid((9, 9)), sources=[[4.0, 4.0]], speed=2.0)
    >>> isochron.gradient(arrival)[8, 4]
    array([0.5, 0. ])
    """
    if isinstance(_solved(arrival).mesh, Grid):
        return _grid_gradient(np.asarray(arrival.times), arrival.mesh)
    return _mesh_gradient(np.asarray(arrival.times), arrival.mesh)


def _mesh_gradient(times: np.ndarray, mesh: Mesh) -> np.ndarray:
    corners = np.asarray(mesh.points, dtype=np.float64)[mesh.cells]
    edges = corners[:, 1:] - corners[:, :1]
    with np.errstate(invalid="ignore"):
        rise = times[mesh.cells[:, 1:]] - times[mesh.cells[:, :1]]
    result = np.full((len(mesh.cells), corners.shape[2]), np.nan)
    known = np.isfinite(rise).all(axis=1)
    gram = np.einsum("eij,ekj->eik", edges[known], edges[known])
    usable = np.linalg.det(gram) > 0
    known[known] = usable
    weights = np.linalg.solve(gram[usable], rise[known][..., None])[..., 0]
    result[known] = np.einsum("ei,eij->ej", weights, edges[known])
    return result


def _grid_gradient(times: np.ndarray, grid: Grid) -> np.ndarray:
    per_index = np.stack([_difference(times, axis) for axis in range(grid.ndim)], axis=-1)
    # u(index) with x = origin + index @ axes: the world gradient g solves axes @ g = du/dindex.
    return per_index @ np.linalg.inv(grid.axes).T


def _difference(times: np.ndarray, axis: int) -> np.ndarray:
    """Central where both neighbours are known, else one-sided, 0 along an axis of one voxel, NaN without any."""
    u = np.moveaxis(times, axis, 0)
    if len(u) == 1:
        return np.where(np.isfinite(times), 0.0, np.nan)
    with np.errstate(invalid="ignore"):
        step = u[1:] - u[:-1]
    step[~np.isfinite(step)] = np.nan
    none = np.full((1,) + u.shape[1:], np.nan)
    before, after = np.concatenate([none, step]), np.concatenate([step, none])
    central = 0.5 * (before + after)
    result = np.where(np.isfinite(central), central, np.where(np.isfinite(before), before, after))
    return np.moveaxis(result, 0, axis)
