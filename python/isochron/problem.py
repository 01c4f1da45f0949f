"""A mesh or grid with the metric on it, made from the arguments of `solve`."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .errors import InputError, SolveWarning, UsageError, warn
from .grid import Grid
from .image import Image
from .mesh import as_mesh, in_space, number_array, on_device, on_host, real_array
from .mesh import host_array as as_array

#: Ways to say how fast the front runs, of which one is given, and all arguments of `solve` about that.
_KINDS = ("speed", "metric", "velocity_tensor", "fibers")
METRIC_ARGUMENTS = _KINDS + ("sheets", "velocity", "regions", "tensor_order")

_TENSOR_ORDERS = ("row", "vtk", "mrtrix", "lower")


class Problem:
    """What a solve was asked on: ``mesh`` (a Mesh or Grid), the metric's arguments and the grid's mask.

    `core` is the library's own handle, made when it is first asked for and left out when the object is pickled.
    """

    __slots__ = ("mesh", "mask", "arguments", "_given_mask", "_shape", "_core_problem", "_converted")

    def __init__(self, mesh: Any, mask: Any = None, **arguments: Any) -> None:
        self.mesh = as_mesh(mesh)
        self.mask = None if mask is None else as_array(_given({"mask": mask})["mask"], "mask")
        self.arguments = _given(arguments)
        self._shape: _core.Shape | None = None
        self._core_problem: _core.Problem | None = None
        self._converted: list[str] = []
        if self.mask is not None and not isinstance(self.mesh, Grid):
            raise UsageError("mask is for grids (a mesh is cut by leaving out cells); leave it out")
        self._given_mask = self.mask
        self._close_standstill()

    @property
    def on_device(self) -> bool:
        """Whether the mesh or its metric is in the memory of a GPU."""
        return on_device(self.mesh) or any(on_device(value) for value in self.arguments.values())

    @property
    def vertices(self) -> int:
        """Number of vertices, or of voxels."""
        return self.mesh.size if isinstance(self.mesh, Grid) else len(self.mesh.points)

    @property
    def elements(self) -> int:
        """Number of elements, or of voxels."""
        return self.mesh.size if isinstance(self.mesh, Grid) else len(self.mesh.cells)

    @property
    def shape(self) -> _core.Shape:
        """The library's handle on the mesh or grid; what is in the memory of a GPU is copied to the host for it."""
        if self._shape is None:
            self._shape = self._make_shape()
        return self._shape

    @property
    def core(self) -> _core.Problem:
        """The library's handle on mesh and metric together."""
        if self._core_problem is None:
            self._core_problem = self._make_metric()
            for note in self._core_problem.notes:
                warn(note, SolveWarning)
        return self._core_problem

    @property
    def converted(self) -> list[str]:
        """What could not be used as it came, one line each."""
        made = [part for part in (self._shape, self._core_problem) if part is not None]
        return [line for part in made for line in part.converted] + self._converted

    def with_metric(self, **arguments: Any) -> Problem:
        """The same mesh with another metric; nothing of the mesh is made again, unless other voxels have speed 0."""
        other = Problem.__new__(Problem)
        other.mesh, other.mask, other._given_mask = self.mesh, self._given_mask, self._given_mask
        other.arguments = _given(arguments)
        other._core_problem = None
        other._converted = []
        other._shape = None
        other._close_standstill()
        if other.mask is self.mask or (
            other.mask is not None and self.mask is not None and np.array_equal(other.mask, self.mask)
        ):
            other.mask, other._shape = self.mask, self._shape
        return other

    def _close_standstill(self) -> None:
        """Takes voxels of speed 0 out of the mask of a grid: as in files, they do not conduct."""
        speed = self.arguments.get("speed")
        if not isinstance(self.mesh, Grid) or speed is None or on_device(speed):
            return
        values = as_array(speed, "speed")
        if values.shape not in (self.mesh.shape, (self.mesh.size,)) or values.all():
            return
        conducts = self.mesh.flat(values, "speed") != 0
        mask = conducts if self.mask is None else np.where(conducts, self.mesh.flat(self.mask, "mask"), 0)
        if not mask.any():
            raise InputError("no voxel conducts (speeds are 0); give some of them a speed")
        self.mask = mask

    def _make_shape(self) -> _core.Shape:
        if isinstance(self.mesh, Grid):
            mask = None if self.mask is None else self._flat(self.mask, "mask")
            return _core.grid_shape(*self.mesh._core_arguments(), mask, self.mesh.ndim, self.mesh.order)
        points, cells = on_host(self.mesh.points), on_host(self.mesh.cells)
        if points.ndim == 2 and points.shape[1] == 2:
            self._converted.append("points: from two coordinates to three")
        return _core.mesh_shape(in_space(points), cells)

    def _flat(self, values: Any, name: str, trailing: int = 0) -> np.ndarray:
        """A row per element; of grids from arrays of their shape."""
        values = as_array(values, name)
        if not isinstance(self.mesh, Grid) or values.ndim <= trailing:
            return values
        flat = self.mesh.flat(values, name, trailing)
        if not np.may_share_memory(flat, values):
            self._converted.append(f"{name}: to the order of the grid's voxels")
        return flat

    def _vectors(self, values: Any, name: str) -> np.ndarray:
        """Three numbers per element."""
        values = as_array(values, name)
        if isinstance(self.mesh, Grid) and values.shape[-1:] != (3,):
            wanted = self.mesh.shape + (3,)
            raise InputError(f"{name} has the wrong shape (it is {values.shape}); give an array of shape {wanted}")
        return self._flat(values, name, 1)

    def _tensors(self, values: Any, name: str) -> np.ndarray:
        """One tensor, or one per element."""
        values = as_array(values, name)
        on_grid = isinstance(self.mesh, Grid)
        counts = [(), self.mesh.shape, (self.mesh.size,)] if on_grid else [(), (len(self.mesh.cells),)]
        if values.shape in [count + (2, 2) for count in counts] and self._flat_in_z():
            values = _in_three_dimensions(values)
            self._converted.append(f"{name}: from two dimensions to three")
        if not on_grid:
            return values
        shape = self.mesh.shape
        for tensor in ((3, 3), (6,)):
            if values.shape == tensor:
                return values
            if values.shape in (shape + tensor, (self.mesh.size,) + tensor):
                return self._flat(values, name, len(tensor))
        one = "(2, 2), (3, 3)" if self.mesh.ndim == 2 else "(3, 3)"
        raise InputError(
            f"{name} has the wrong shape (it is {values.shape}); give one tensor of shape {one} or (6,), or one per voxel, "
            f"of shape {shape + (3, 3)} or {shape + (6,)}"
        )

    def _flat_in_z(self) -> bool:
        """Whether the front stays in a plane of constant z, where the rest of a tensor does not matter."""
        if isinstance(self.mesh, Grid):
            return self.mesh.ndim == 2
        points = on_host(self.mesh.points)
        if self.mesh.kind != "triangle" or points.ndim != 2:
            return False
        return points.shape[1] == 2 or (points.shape[1] == 3 and len(points) > 0 and not np.ptp(points[:, 2]))

    def _make_metric(self) -> _core.Problem:
        given = dict(self.arguments)
        order = given.pop("tensor_order", "row")
        kinds = [name for name in _KINDS if name in given]
        if not isinstance(order, str) or order not in _TENSOR_ORDERS:
            raise UsageError(f"unknown tensor_order {order!r}; choose one of: row, vtk, mrtrix, lower")
        if len(kinds) > 1:
            raise UsageError(f"{' and '.join(kinds)} exclude each other (each says how fast the front runs); give one")
        if "fibers" in given:
            return self._fiber_metric(given)
        for name in ("sheets", "velocity", "regions"):
            if name in given:
                raise UsageError(f"{name} goes with fibers; give them too, or use speed")
        if "metric" in given or "velocity_tensor" in given:
            tensors = self._tensors(given[kinds[0]], kinds[0])
            return _core.problem_with_tensors(self.shape, tensors, order, "velocity_tensor" in given)
        return _core.problem_with_speed(self.shape, self._flat(given.get("speed", 1.0), "speed"))

    def _fiber_metric(self, given: dict[str, Any]) -> _core.Problem:
        if "velocity" not in given:
            raise UsageError("fibers need velocity (along and across them); give velocity=(0.6, 0.3) or a dict by region")
        regions, table = velocity_table(given["velocity"], given.get("regions"))
        if regions is not None:
            regions = self._flat(regions, "regions")
        sheets = given.get("sheets")
        return _core.problem_with_fibers(
            self.shape,
            self._vectors(given["fibers"], "fibers"),
            None if sheets is None else self._vectors(sheets, "sheets"),
            table,
            regions,
        )

    def __getstate__(self) -> tuple:
        return self.mesh, self.mask, self._given_mask, self.arguments

    def __setstate__(self, state: tuple) -> None:
        self.mesh, self.mask, self._given_mask, self.arguments = state
        self._shape = self._core_problem = None
        self._converted = []


def _in_three_dimensions(tensors: np.ndarray) -> np.ndarray:
    """Tensors of a plane with the mean of their diagonal across it."""
    wide = np.zeros(tensors.shape[:-2] + (3, 3), dtype=np.result_type(tensors, np.float32))
    wide[..., :2, :2] = tensors
    wide[..., 2, 2] = 0.5 * (tensors[..., 0, 0] + tensors[..., 1, 1])
    return wide


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    """Those that are not None; arrays of other libraries as we see them."""
    given = {}
    for name, value in arguments.items():
        if isinstance(value, Image):
            raise InputError(f"{name} is an Image; give one of its arrays, as image.data")
        if value is not None:
            taken = _core.take(value)
            given[name] = value if taken is None else taken
    return given


def velocities_of(value: Any) -> list[float]:
    """(fibre, sheet, normal); what is left out equals the number before it."""
    numbers = np.atleast_1d(real_array(value, "velocity"))
    if numbers.ndim != 1 or not 1 <= len(numbers) <= 3:
        raise InputError(f"velocity has the wrong shape (it is {numbers.shape}); give one, two or three numbers")
    filled = numbers.tolist()
    return filled + filled[-1:] * (3 - len(filled))


def velocity_table(velocity: Any, regions: Any) -> tuple[np.ndarray | None, np.ndarray]:
    """The row of each element (None: the first) and the rows."""
    if not isinstance(velocity, dict):
        if regions is not None:
            raise UsageError("regions go with velocities by region; give velocity={region: (along, across), ...}")
        return None, np.array([velocities_of(velocity)])
    if regions is None:
        raise UsageError("velocity is a dict by region, but regions is missing; give the region of each element")
    regions = number_array(regions, "regions")
    wrong = [name for name in velocity if not (isinstance(name, (int, float, np.number)) and abs(name) < np.inf)]
    if wrong or not velocity:
        found = f"the key {wrong[0]!r}" if wrong else "no rows"
        raise InputError(f"velocity is a dict with {found}; give velocities by region")
    names = np.array(sorted(velocity))
    rows = np.searchsorted(names, regions)
    known = names[np.minimum(rows, len(names) - 1)] == regions
    if not known.all():
        missing = np.unique(regions[~known])[:5].tolist()
        raise InputError(f"velocity has no row for regions {missing} of the elements; add them")
    return rows, np.array([velocities_of(velocity[name]) for name in names.tolist()])
