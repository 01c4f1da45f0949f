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
    """meshio, and PyVista's unstructured grids: cells by kind. Tetrahedra come before triangles, which mostly are their
    surface."""
    blocks = mesh.cells_dict
    for kind in ("tetra", "triangle", 10, 5):
        if kind in blocks and len(blocks[kind]) > 0:
            _warn_left_out({_VTK_KINDS.get(name, name): len(cells) for name, cells in blocks.items()})
            return Mesh(mesh.points, blocks[kind])
    known = ", ".join(str(kind) for kind in blocks) or "none"
    raise InputError(f"mesh has no triangles or tetrahedra (its kinds of cells: {known}); convert its cells first")


#: VTK's numbers of cells, which count from 1, by the names that meshio has for them.
_VTK_NAMES = "vertex vertex line line triangle triangle_strip polygon pixel quad tetra voxel hexahedron wedge pyramid"
_VTK_KINDS = {number: name.replace("_", " ") for number, name in enumerate(_VTK_NAMES.split(), 1)}


def _warn_left_out(counts: dict[Any, int]) -> None:
    """Warns of cells by kind that nothing can be solved on; lines and vertices leave no gap."""
    for kind, count in counts.items():
        if count > 0 and kind not in ("tetra", "triangle", "line", "vertex"):
            name = kind if isinstance(kind, str) else f"VTK cell type {kind}"
            cells = "1 cell" if count == 1 else f"{count} cells"
            warn(f"mesh: {cells} of kind {name} left out (the front does not pass there); triangulate it", SolveWarning)


def _vtk_values(array: Any) -> np.ndarray:
    values = np.asarray(memoryview(array))
    return values.reshape(array.GetNumberOfTuples(), -1)


def _vtk_cells(cells: Any) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and point ids of a vtkCellArray."""
    return _vtk_values(cells.GetOffsetsArray()).ravel(), _vtk_values(cells.GetConnectivityArray()).ravel()


def _vtk_polygons(cells: Any) -> np.ndarray:
    """The triangles of a vtkCellArray of polygons."""
    offsets, ids = _vtk_cells(cells)
    sizes = np.diff(offsets)
    if (sizes == 3).all():
        return ids.reshape(-1, 3)
    quads = int((sizes == 4).sum())
    _warn_left_out({"quad": quads, "polygon": int((sizes != 3).sum()) - quads})
    return ids[offsets[:-1][sizes == 3][:, None] + np.arange(3)]


def _vtk_strips(cells: Any) -> np.ndarray:
    """The triangles of a vtkCellArray of strips, all with one side out: every second one is turned round."""
    offsets, ids = _vtk_cells(cells)
    sizes = np.diff(offsets)
    place = np.arange(len(ids)) - np.repeat(offsets[:-1], sizes)
    starts = np.flatnonzero(place < np.repeat(sizes, sizes) - 2)
    odd = place[starts] % 2
    return np.column_stack([ids[starts], ids[starts + 1 + odd], ids[starts + 2 - odd]])


def _polydata_cells(mesh: Any) -> np.ndarray | None:
    parts = [_vtk_polygons(mesh.GetPolys())] if mesh.GetPolys().GetNumberOfCells() else []
    if mesh.GetStrips().GetNumberOfCells():
        parts.append(_vtk_strips(mesh.GetStrips()))
    cells = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else []
    return cells if len(cells) else None


def _from_vtk(mesh: Any) -> Mesh:
    if mesh.GetPoints() is None:
        raise InputError("mesh has no points (there is nothing to solve on); give another data set")
    points, cells = _vtk_values(mesh.GetPoints().GetData()), None
    if hasattr(mesh, "GetPolys"):
        cells = _polydata_cells(mesh)
    elif hasattr(mesh, "GetCellTypesArray"):
        # By type: quads (9) have four corners too.
        types = _vtk_values(mesh.GetCellTypesArray()).ravel()
        offsets, ids = _vtk_cells(mesh.GetCells())
        for kind, corners in ((10, 4), (5, 3)):
            chosen = offsets[:-1][types == kind]
            if len(chosen):
                whole = len(chosen) == len(types)
                _warn_left_out({_VTK_KINDS.get(n, n): int((types == n).sum()) for n in np.unique(types).tolist()})
                cells = ids.reshape(-1, corners) if whole else ids[chosen[:, None] + np.arange(corners)]
                break
    if cells is None:
        raise InputError("mesh has no triangles or tetrahedra; triangulate it first")
    return Mesh(points, cells)


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
