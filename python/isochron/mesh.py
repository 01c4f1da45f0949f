"""Meshes: our own small class, and what others call a mesh."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .errors import InputError, SolveWarning, warn
from .grid import Grid, grid_from_core


class Mesh:
    """Points, triangles or tetrahedra, and named arrays on them.

    ``points`` has shape (N, 3), or (N, 2) for flat meshes; ``cells`` has shape (M, 3) for triangles or (M, 4) for
    tetrahedra and holds point ids from 0. ``point_data`` and ``cell_data`` map names to arrays with a row per point or
    cell. Nothing is copied or checked here; points and cells in the memory of a GPU (CuPy, PyTorch) stay there.

    >>> Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    Mesh(3 points, 1 triangle)
    """

    __slots__ = ("points", "cells", "point_data", "cell_data")

    def __init__(self, points: Any, cells: Any, point_data: dict | None = None, cell_data: dict | None = None) -> None:
        self.points = as_array(points, "points")
        self.cells = as_array(cells, "cells")
        self.point_data: dict[str, np.ndarray] = dict(point_data or {})
        self.cell_data: dict[str, np.ndarray] = dict(cell_data or {})

    @property
    def kind(self) -> str:
        """"triangle" or "tetra", as meshio calls them."""
        return "tetra" if self.cells.ndim == 2 and self.cells.shape[1] == 4 else "triangle"

    def __repr__(self) -> str:
        points, cells = len(self.points), len(self.cells)
        name = ("tetrahedron", "tetrahedra") if self.kind == "tetra" else ("triangle", "triangles")
        return f"Mesh({points} point{'' if points == 1 else 's'}, {cells} {name[cells != 1]})"


def as_array(values: Any, name: str = "an argument") -> Any:
    """What NumPy makes of it; no copy of what is an array already, here or in another library. An array in the memory of
    a GPU stays there and becomes a DeviceArray."""
    if type(values) is np.ndarray:
        return values
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{name} is masked in places (there is no value there); fill those, or leave them out")
    taken = _core.take(values)
    if taken is not None:
        return taken
    try:
        return np.asarray(values)
    except ValueError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{name} cannot be an array ({reason}); give rows of one length") from None


def on_device(value: Any) -> bool:
    """Whether an array, or one of a mesh's arrays, is in the memory of a GPU."""
    if isinstance(value, Mesh):
        return on_device(value.points) or on_device(value.cells)
    return isinstance(value, _core.DeviceArray)


def on_host(values: Any) -> Any:
    """Copies an array in the memory of a GPU to the host; others stay as they are."""
    return values.to_numpy() if isinstance(values, _core.DeviceArray) else values


def host_array(values: Any, name: str = "an argument") -> np.ndarray:
    """`as_array` of anything, on the host."""
    return on_host(as_array(values, name))


def number_array(values: Any, name: str) -> np.ndarray:
    """The same, of what are real numbers."""
    array = host_array(values, name)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} holds no real numbers (dtype {array.dtype}); give numbers")
    return array


def real_array(values: Any, name: str) -> np.ndarray:
    """The same as float64."""
    return np.asarray(number_array(values, name), dtype=np.float64)


def in_space(points: np.ndarray) -> np.ndarray:
    """Positions in the plane get a third coordinate."""
    if points.ndim == 2 and points.shape[1] == 2:
        return np.column_stack([points, np.zeros(len(points))])
    return points


def as_mesh(mesh: Any) -> Mesh | Grid:
    """A mesh or grid from a Mesh, a Grid, (points, cells), a meshio mesh, a PyVista or VTK data set, or a mesh of trimesh
    or Open3D."""
    if isinstance(mesh, (Mesh, Grid)):
        return mesh
    if isinstance(mesh, (tuple, list)) and len(mesh) == 2:
        return Mesh(*mesh)
    if hasattr(mesh, "points") and hasattr(mesh, "cells_dict"):
        return _from_blocks(mesh)
    if hasattr(mesh, "GetDimensions") and hasattr(mesh, "GetSpacing"):
        return _from_vtk_image(mesh)
    if hasattr(mesh, "GetXCoordinates"):
        raise InputError("mesh is a rectilinear grid (its steps may differ); resample it to an image, or triangulate it")
    if hasattr(mesh, "GetPoints") and hasattr(mesh, "GetCellData"):
        return _from_vtk(mesh)
    for points, cells in (("points", "cells"), ("vertices", "faces"), ("vertices", "triangles")):
        if hasattr(mesh, points) and hasattr(mesh, cells):
            return Mesh(getattr(mesh, points), getattr(mesh, cells))
    raise InputError(
        f"mesh is a {type(mesh).__name__} (not a known kind of mesh); give (points, cells), a Grid, a meshio mesh, or a "
        "PyVista or VTK data set"
    )


def _from_blocks(mesh: Any) -> Mesh:
    """meshio, and PyVista's unstructured grids: cells by kind."""
    blocks = {_VTK_KINDS.get(kind, kind): np.asarray(cells) for kind, cells in mesh.cells_dict.items() if len(cells)}
    _warn_left_out([(kind, len(cells)) for kind, cells in blocks.items() if kind not in _VTK_NUMBERS])
    known = {kind: cells for kind, cells in blocks.items() if kind in _VTK_NUMBERS}
    if known.keys() <= {"tetra", "triangle", "line", "vertex"}:
        for kind in ("tetra", "triangle"):
            if kind in known:
                return Mesh(mesh.points, known[kind])
    kinds = np.concatenate([np.full(len(cells), _VTK_NUMBERS[kind]) for kind, cells in known.items()] or [[]])
    sizes = np.concatenate([np.full(len(cells), cells.shape[1]) for cells in known.values()] or [[]])
    ids = np.concatenate([cells.ravel() for cells in known.values()] or [[]])
    return Mesh(mesh.points, _simplices(mesh.points, kinds, np.cumsum(sizes), ids))


#: VTK's numbers of cells, which count from 1, by the names that meshio has for them, and the reverse.
_VTK_NAMES = "vertex vertex line line triangle triangle_strip polygon pixel quad tetra voxel hexahedron wedge pyramid"
_VTK_KINDS = {number: name.replace("_", " ") for number, name in enumerate(_VTK_NAMES.split(), 1)}
_VTK_NUMBERS = {name: number for number, name in _VTK_KINDS.items()}


def _simplices(points: Any, kinds: np.ndarray, ends: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The tetrahedra of cells of all kinds, or else the triangles: mostly these are the surface of tetrahedra. Other
    cells are cut, as those of files are."""
    found = _core.simplices_of(in_space(host_array(points, "points")), kinds, ends, ids)
    _warn_left_out([(kind, count) for kind, count in found["ignored_cells"] if kind != "vertex"])
    cells = found["tetrahedra"] if len(found["tetrahedra"]) else found["triangles"]
    if not len(cells):
        raise InputError("mesh has no triangles or tetrahedra, nor cells that can be cut into them; triangulate it first")
    return cells


def _warn_left_out(counts: list[tuple[Any, int]]) -> None:
    """Warns of cells by kind that nothing can be solved on."""
    for kind, count in counts:
        name = kind if isinstance(kind, str) else f"VTK cell type {kind}"
        cells = "1 cell" if count == 1 else f"{count} cells"
        warn(f"mesh: {cells} of kind {name} left out (the front does not pass there); triangulate it", SolveWarning)


def _vtk_values(array: Any) -> np.ndarray:
    values = np.asarray(memoryview(array))
    return values.reshape(array.GetNumberOfTuples(), -1)


def _vtk_cells(cells: Any) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and point ids of a vtkCellArray."""
    return _vtk_values(cells.GetOffsetsArray()).ravel(), _vtk_values(cells.GetConnectivityArray()).ravel()


def _from_vtk(mesh: Any) -> Mesh:
    if mesh.GetPoints() is None:
        raise InputError("mesh has no points (there is nothing to solve on); give another data set")
    points = _vtk_values(mesh.GetPoints().GetData())
    kinds, sizes, ids = [], [], []
    if hasattr(mesh, "GetPolys"):
        for number, cells in ((_VTK_NUMBERS["polygon"], mesh.GetPolys()), (_VTK_NUMBERS["triangle strip"], mesh.GetStrips())):
            if cells.GetNumberOfCells():
                offsets, corners = _vtk_cells(cells)
                kinds.append(np.full(len(offsets) - 1, number))
                sizes.append(np.diff(offsets))
                ids.append(corners)
    elif hasattr(mesh, "GetCellTypesArray") and mesh.GetNumberOfCells():
        offsets, corners = _vtk_cells(mesh.GetCells())
        kinds, sizes, ids = [_vtk_values(mesh.GetCellTypesArray()).ravel()], [np.diff(offsets)], [corners]
    if len(ids) == 1:
        for names, corner_count in ((("tetra",), 4), (("triangle", "polygon"), 3)):
            if np.isin(kinds[0], [_VTK_NUMBERS[name] for name in names]).all() and (sizes[0] == corner_count).all():
                return Mesh(points, ids[0].reshape(-1, corner_count))
    joined = [np.concatenate(parts or [[]]) for parts in (kinds, sizes, ids)]
    return Mesh(points, _simplices(points, joined[0], np.cumsum(joined[1]), joined[2]))


def _from_vtk_image(image: Any) -> Grid:
    shape = image.GetDimensions()
    direction = np.eye(3)
    if hasattr(image, "GetDirectionMatrix"):
        matrix = image.GetDirectionMatrix()
        direction = np.array([[matrix.GetElement(i, j) for j in range(3)] for i in range(3)])
    extent = image.GetExtent() if hasattr(image, "GetExtent") else (0, 0, 0, 0, 0, 0)
    spacing = np.array(image.GetSpacing())
    origin = np.array(image.GetOrigin()) + direction @ (spacing * np.array(extent[::2]))
    if shape[2] == 1:
        return grid_from_core((shape, origin, (direction * spacing).T))
    return Grid(shape, spacing, origin, direction, order="F")
