"""Where and when the front starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .errors import IndexWarning, InputError, UsageError, warn
from .grid import Grid
from .mesh import Mesh, in_space, real_array
from .mesh import host_array as as_array


class Sources:
    """All sources of one solve, where they are of several kinds.

    ``vertices`` are ids of mesh vertices or grid voxels, on grids also indices of shape (K, ndim), or a mask; ``points``
    are positions of shape (K, 3); each may have onset times. ``level_set`` has a signed value per mesh vertex or voxel:
    the front starts at time 0 on its zero set and runs both ways; on grids it stands alone. The index of a source, as
    ``Arrival.source`` gives it, counts the vertices first, then the points, then the level set.

    >>> Sources(vertices=[0, 5], points=[[0.5, 0.5, 0]], point_times=2.0)
    Sources(2 vertices, 1 point)
    """

    __slots__ = ("vertices", "vertex_times", "points", "point_times", "level_set")

    def __init__(
        self,
        vertices: Any = None,
        vertex_times: Any = None,
        points: Any = None,
        point_times: Any = None,
        level_set: Any = None,
    ) -> None:
        self.vertices = None if vertices is None else np.atleast_1d(as_array(vertices))
        self.points = None if points is None else in_space(np.atleast_2d(as_array(points)))
        marked = self.vertices is not None and self.vertices.dtype.kind == "b"
        if marked and vertex_times is not None:  # how many there are is known on the mesh
            self.vertex_times = real_array(vertex_times, "vertex_times")
        else:
            self.vertex_times = _onsets(vertex_times, self.vertices, "vertex_times")
        self.point_times = _onsets(point_times, self.points, "point_times")
        self.level_set = None if level_set is None else as_array(level_set)

    def _core(self, vertex_count: int) -> _core.Sources:
        """The library's own, on a mesh or grid of so many vertices or voxels."""
        return _core.Sources(
            vertex_count, self.vertices, self.vertex_times, self.points, self.point_times, self.level_set
        )

    def _copied(self) -> Sources:
        """The same with arrays that nobody else has."""
        other = type(self).__new__(type(self))
        for name in Sources.__slots__:
            array = getattr(self, name)
            setattr(other, name, None if array is None else np.array(array))
        return other

    def _on(self, mesh: Mesh | Grid) -> Sources:
        """The same with ids in the place of a mask or of indices on a grid."""
        vertices = self.vertices
        if self.level_set is not None and isinstance(mesh, Grid) and not (vertices is None and self.points is None):
            raise UsageError("level_set on a grid is all the sources there are; leave out vertices and points")
        if vertices is None or vertices.size == 0:
            return self
        if vertices.dtype.kind not in "biu":
            raise InputError(f"vertices are ids, which are integers (dtype {vertices.dtype}); give an integer array")
        if vertices.ndim == 1 and vertices.dtype.kind != "b":
            return self
        found = as_sources(vertices, self.vertex_times, None, mesh)
        return Sources(found.vertices, found.vertex_times, self.points, self.point_times, self.level_set)

    def __repr__(self) -> str:
        parts = []
        for values, one, many in ((self.vertices, "vertex", "vertices"), (self.points, "point", "points")):
            if values is not None:
                count = np.count_nonzero(values) if values.dtype.kind == "b" else len(values)
                parts.append(f"{count} {one if count == 1 else many}")
        if self.level_set is not None:
            parts.append("level set")
        return f"Sources({', '.join(parts) or 'none'})"


def _onsets(times: Any, of: np.ndarray | None, name: str) -> np.ndarray | None:
    if times is None:
        return None
    if of is None:
        raise InputError(f"{name} belongs to sources that were not given; leave it out")
    times = real_array(times, name)
    if times.ndim == 0:
        return np.full(len(of), float(times))
    if times.shape != (len(of),):
        raise InputError(f"{name} has the wrong shape (it is {times.shape}); give an array of shape ({len(of)},)")
    return times


def as_sources(sources: Any, times: Any, level_set: Any, mesh: Mesh | Grid, name: str = "sources") -> Sources:
    """Sources from ids, positions, masks or a Sources; see `solve`. Messages call them `name`."""
    if isinstance(sources, Sources):
        if times is not None or level_set is not None:
            raise InputError("times and level_set do not go with a Sources object (it has its own); leave them out")
        return sources._on(mesh)
    on_grid = isinstance(mesh, Grid)
    if sources is None:
        if level_set is None:
            raise InputError("sources is None (the front must start somewhere); give vertex ids, positions or a mask")
        return Sources(level_set=level_set)
    values = as_array(sources, name)
    if values.size == 0:
        raise InputError(f"{name} is empty{_why(name)}; give vertex ids, positions or a mask")
    kind = values.dtype.kind
    if kind == "b":
        ids, times = _from_mask(values, times, mesh, name)
        return _named(Sources(ids, level_set=level_set), times, "vertex_times")
    if kind in "iu":
        if values.ndim == 2 and on_grid and values.shape[1] == mesh.ndim:
            values = _voxel_ids(values, mesh, name)
        elif values.ndim > 1:
            wanted = f"(K,) or (K, {mesh.ndim})" if on_grid else "(K,)"
            raise InputError(
                f"{name} are ids of the wrong shape (it is {values.shape}); give an array of shape {wanted}, or "
                "positions as floating-point numbers"
            )
        return _named(Sources(values, None, None, None, level_set), times, "vertex_times")
    if kind == "f":
        width = values.shape[-1] if values.ndim in (1, 2) else 0
        flat = mesh.ndim == 2 if on_grid else mesh.points.shape[-1] == 2
        if width != 3 and not (width == 2 and flat):
            wanted = "(K, 2)" if flat else "(K, 3)"
            raise InputError(
                f"{name} are positions of the wrong shape (it is {values.shape}); give an array of shape {wanted}, or "
                "ids as integers"
            )
        return _named(Sources(points=values, level_set=level_set), times, "point_times")
    raise InputError(f"{name} have dtype {values.dtype}; give integers (ids), floats (positions) or booleans (a mask)")


def as_places(places: Any, name: str, mesh: Mesh | Grid) -> Sources:
    """Places where no front starts, given as sources are; messages call them `name`."""
    if places is None:
        raise InputError(f"{name} is None; give vertex ids, positions or a mask")
    return as_sources(places, None, None, mesh, name)


def _why(name: str) -> str:
    """Why there must be one."""
    return " (the front must start somewhere)" if name == "sources" else ""


def warn_of_index(given: Any, mesh: Mesh | Grid, name: str) -> None:
    """Integers in a row are ids; written as one index of the grid they were perhaps meant as that."""
    if not (isinstance(mesh, Grid) and isinstance(given, (list, tuple)) and len(given) == mesh.ndim):
        return
    if all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) and 0 <= i < n for i, n in zip(given, mesh.shape)):
        row = [int(i) for i in given]
        text = f"{name} is {row}, which are {len(row)} voxel ids; for the voxel of that index give [{row}]"
        warn(f"{text}, for ids np.array({row})", IndexWarning)


def _named(sources: Sources, times: Any, attribute: str) -> Sources:
    of = sources.vertices if attribute == "vertex_times" else sources.points
    setattr(sources, attribute, _onsets(times, of, "times"))
    return sources


def _from_mask(mask: np.ndarray, times: Any, mesh: Mesh | Grid, name: str) -> tuple[np.ndarray, Any]:
    """Ids where the mask is set, and their times, which may have the mask's shape too."""
    if isinstance(mesh, Grid):
        flat = mesh.flat(mask, name)
    else:
        flat = mask
        if mask.shape != (len(mesh.points),):
            raise InputError(
                f"{name} is a mask of the wrong shape (it is {mask.shape}); give an array of shape ({len(mesh.points)},)"
            )
    if times is not None and np.ndim(times) > 0 and np.shape(times) == mask.shape:
        times = as_array(times)
        times = (mesh.flat(times, "times") if isinstance(mesh, Grid) else times)[flat]
    ids = np.flatnonzero(flat)
    if len(ids) == 0:
        raise InputError(f"{name} is a mask that is false everywhere{_why(name)}; set some of it")
    return ids, times


def _voxel_ids(index: np.ndarray, grid: Grid, name: str) -> np.ndarray:
    if (index < 0).any() or (index >= np.array(grid.shape)).any():
        raise InputError(f"{name} holds an index outside the grid of shape {grid.shape}; indices count from 0")
    return np.ravel_multi_index(tuple(index.T), grid.shape, order=grid.order)
