"""Reading and writing meshes, images and lines."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from .arrival import Arrival
from .errors import InputError, SolveWarning, UsageError, warn
from .grid import Grid
from .image import Image, image_from_core, in_file_order, rows_of
from .mesh import Mesh, as_mesh, in_space
from .paths import Path


def read(
    path: str | os.PathLike, cells: str | None = None, *, spacing: Any = None, origin: Any = None
) -> Mesh | Image | list[Path]:
    """What a file holds; the format is picked by the extension.

    Meshes (VTU, VTP, VTK, PLY, STL, OBJ, OFF, Gmsh, CARP, TetGen, Medit, ...) give a `Mesh`, images (NIfTI, NRRD, VTI,
    MGZ, .npy) an `Image`, and files that hold nothing but lines (TCK, ...) a list of `Path`. A file with tetrahedra and
    triangles gives its tetrahedra, unless ``cells="triangle"``. Quadrilaterals, polygons, hexahedra, prisms and pyramids
    are cut into triangles and tetrahedra. An .npy image does not say where it is: ``spacing`` is the size of its voxels,
    one number or one an axis (1), and ``origin`` the centre of the first one (0).

    >>> import isochron, tempfile, os
    >>> name = os.path.join(tempfile.mkdtemp(), "square.ply")
    >>> isochron.write(name, isochron.generate.square(n=5))
    >>> isochron.read(name)
    Mesh(25 points, 32 triangles)
    """
    if cells not in (None, "triangle", "tetra"):
        raise UsageError(f"cells is {cells!r}; choose 'triangle' or 'tetra'")
    path = os.fsdecode(path)
    if _core.is_image_file(path) and not _core.is_mesh_file(path):
        if cells is not None:
            raise UsageError("cells is for meshes (the file is an image); leave it out")
        found = _core.read_image(path, _numbers(spacing), _numbers(origin))
        _warn_of(path, found["warnings"])
        return image_from_core(found)
    if spacing is not None or origin is not None:
        raise UsageError("spacing and origin are for images (the file is a mesh); leave them out")
    found = _core.read_mesh(path)
    left_out = [f"{n} {'cell' if n == 1 else 'cells'} of kind {kind} left out" for kind, n in found["ignored_cells"]]
    _warn_of(path, found["warnings"] + left_out)
    return _from_dataset(path, found, cells)


def _numbers(values: Any) -> list[float]:
    """A number or several as a list; none of None."""
    return [] if values is None else [float(value) for value in np.atleast_1d(values)]


def _warn_of(path: Any, lines: list[str]) -> None:
    for line in lines:
        warn(f"{os.fspath(path)}: {line}", SolveWarning)


def _from_dataset(path: Any, found: dict, cells: str | None) -> Mesh | list[Path]:
    points, tets, triangles = found["points"], found["tetrahedra"], found["triangles"]
    if cells is None:
        cells = "tetra" if len(tets) else "triangle"
        if not len(tets) and not len(triangles) and found["lines"]:
            return [_line(points[ids], found["point_data"], ids) for ids in found["lines"]]
    if cells == "tetra":
        if not len(tets):
            raise InputError(f"{os.fspath(path)}: has no tetrahedra; leave cells out, or read another file")
        return Mesh(points, tets, found["point_data"], found["tetrahedron_data"])
    if not len(triangles):
        raise InputError(f"{os.fspath(path)}: has no triangles (nor tetrahedra or lines); read another file")
    return Mesh(points, triangles, found["point_data"], found["triangle_data"])


def _line(points: np.ndarray, data: dict, ids: np.ndarray) -> Path:
    times = data["arrival_time"][ids] if "arrival_time" in data else np.full(len(points), np.nan)
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    return Path(points, times, length, float(times[0] - times[-1]), -1)


def write(path: str | os.PathLike, what: Any, *, force: bool = False) -> None:
    """Writes a mesh, an image, an `Arrival`, or one or several `Path` to a file; the extension picks the format.

    An Arrival writes its mesh or grid with the arrays ``arrival_time`` and ``source``. The file is written beside and
    renamed, so that a failed call leaves no half file; an existing one is only replaced with ``force``. A list of paths may
    hold None, as that of `trace_path` does: those are left out.
    """
    path = os.fsdecode(path)
    dropped = _written(path, what, force)
    if dropped:
        _warn_of(path, [f"left out {', '.join(dropped)} (the format has no place for them); .vtu keeps everything"])


def _written(path: str, what: Any, force: bool) -> list[str]:
    """Names of the arrays that the format has no place for."""
    if isinstance(what, Arrival):
        return _write_arrival(path, what, force)
    if isinstance(what, Image):
        return _write_image(path, what, force)
    if isinstance(what, Path):
        return _write_paths(path, [what], force)
    if isinstance(what, (list, tuple)) and all(one is None or isinstance(one, Path) for one in what):
        paths = [one for one in what if one is not None]
        if not paths:
            raise UsageError("the list holds no path (nothing arrived at the places asked for); there is nothing to write")
        return _write_paths(path, paths, force)
    mesh = as_mesh(what)
    if isinstance(mesh, Grid):
        raise UsageError("a Grid has no values to write; give an Image, or an Arrival on the grid")
    return _write_mesh(path, mesh, force)


def _write_mesh(path: str, mesh: Mesh, force: bool) -> list[str]:
    return _core.write_mesh(path, in_space(mesh.points), mesh.cells, [], mesh.point_data, mesh.cell_data, force)


def _write_image(path: str, image: Image, force: bool) -> list[str]:
    grid = in_file_order(image.grid)
    arrays = {name: rows_of(values, grid, name, values.ndim - grid.ndim) for name, values in image.arrays.items()}
    _core.write_image(path, grid._core_arguments(), arrays, image.tensor_order, force)
    return []


def _write_arrival(path: str, arrival: Arrival, force: bool) -> list[str]:
    arrays = {"arrival_time": np.asarray(arrival.times)}
    one_array = isinstance(arrival.mesh, Grid) and not path.lower().endswith((".vti", ".vtk"))
    if arrival.source is not None and not one_array:
        arrays["source"] = np.asarray(arrival.source)
    if isinstance(arrival.mesh, Grid):
        return _write_image(path, Image(arrival.mesh, arrays), force)
    mesh = arrival.mesh
    return _write_mesh(path, Mesh(mesh.points, mesh.cells, {**mesh.point_data, **arrays}, mesh.cell_data), force)


def _write_paths(path: str, paths: list[Path], force: bool) -> list[str]:
    points = np.concatenate([in_space(one.points) for one in paths])
    ends = np.cumsum([len(one.points) for one in paths])
    lines = [np.arange(end - len(one.points), end) for one, end in zip(paths, ends)]
    data = {"arrival_time": np.concatenate([one.times for one in paths])}
    none = np.empty((0, 3), np.int32)
    return _core.write_mesh(path, points, none, lines, data, {}, force)
