"""Arrays in the memory of a GPU: taken from CuPy, PyTorch and others, and left there for them."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _core
from .errors import InputError, UsageError
from .grid import Grid
from .mesh import as_array, on_device, on_host
from .problem import Problem, velocities_of

DeviceArray = _core.DeviceArray

#: What the library keeps each argument as; others are converted, on the GPU.
_KEPT_AS = {"points": "float64", "cells": "int32", "speed": "float64"}


def to_device(values: Any) -> DeviceArray:
    """A copy of a host's array in the memory of the current GPU, for those who have no CuPy or PyTorch there."""
    return _core.to_device(on_host(as_array(values)))


class DeviceBackend:
    """Solves with arrays in the memory of a GPU; stands in for `_core.Solver`."""

    def __init__(self, problem: Problem, options: _core.Options, keep: bool, labels: bool) -> None:
        self._keep = keep
        self._labels = labels
        if on_device(problem.mesh):
            self._core = _core.DeviceSolver.of_tables(*_mesh_tables(problem), _metric(problem), options)
        else:
            self._core = _core.DeviceSolver(problem.shape, _metric(problem), options)

    def solve(self, sources: _core.Sources, progress: Callable | None = None) -> tuple:
        times, source, stats = self._core.solve(sources, progress)
        if not self._labels:
            source = None
        if not self._keep:
            times, source = times.to_numpy(), None if source is None else source.to_numpy()
        return times, source, None, None, stats

    def solve_many(self, sets: list[_core.Sources], take: Callable, progress: Callable | None = None) -> None:
        for index, sources in enumerate(sets):
            take(index, self.solve(sources))
            if progress is not None:
                progress((index + 1) / len(sets))

    def set_problem(self, problem: Problem) -> None:
        self._core.set_metric(_metric(problem))


def _mesh_tables(problem: Problem) -> tuple[_core.DeviceTable, _core.DeviceTable]:
    points, cells = problem.mesh.points, problem.mesh.cells
    for name, array, other in (("points", points, "cells"), ("cells", cells, "points")):
        if not on_device(array):
            raise InputError(f"{name} is on the host, but {other} is in the memory of a GPU; give both there")
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise InputError(f"points has the wrong shape (it is {points.shape}); give an array of shape (N, 3) or (N, 2)")
    if cells.ndim != 2 or cells.shape[1] not in (3, 4):
        raise InputError(
            f"cells has the wrong shape (it is {cells.shape}); give an array of shape (M, 3) for triangles or (M, 4) for "
            "tetrahedra"
        )
    return _table(problem, "points", points, 1), _table(problem, "cells", cells, 1)


def _table(problem: Problem, name: str, array: DeviceArray, trailing: int) -> _core.DeviceTable:
    """Rows of an array whose last `trailing` axes belong to the values."""
    mesh, lead = problem.mesh, array.ndim - trailing
    shape, strides = list(array.shape[:lead]), list(array.strides[:lead])
    if isinstance(mesh, Grid) and tuple(shape) == mesh.shape:
        if mesh.order == "C":  # the library's first index runs fastest
            shape, strides = shape[::-1], strides[::-1]
    elif len(shape) != 1:
        wanted = (mesh.shape if isinstance(mesh, Grid) else ("M",)) + tuple(array.shape[lead:])
        raise InputError(f"{name} has the wrong shape (it is {array.shape}); give an array of shape {wanted}")
    columns, column_stride = 1, 0
    if trailing:
        columns, column_stride = int(np.prod(array.shape[lead:])), array.strides[-1]
        if trailing == 2 and array.strides[-2] != 3 * column_stride:
            raise InputError(f"{name} has gaps in its tensors in the memory of a GPU; make it contiguous")
    kept = _KEPT_AS.get(name, "float32")
    if array.dtype.name != kept and not (name == "cells" and array.dtype.name == "uint32"):
        problem._converted.append(f"{name}: from {array.dtype.name} to {kept}, on the GPU")
    return _core.DeviceTable(array, name, shape, strides, columns, column_stride)


def _metric(problem: Problem) -> _core.DeviceMetric:
    given = problem.arguments
    if not any(on_device(value) for value in given.values()):
        return _host_metric(problem)
    for name in ("velocity_tensor", "regions"):
        if name in given:
            raise UsageError(f"{name} is not taken beside arrays in the memory of a GPU; give speed, metric or fibers")
    kinds = [name for name in ("speed", "metric", "fibers") if name in given]
    if len(kinds) != 1:
        raise UsageError(f"{' and '.join(kinds)} exclude each other (each says how fast the front runs); give one")
    array = given[kinds[0]]
    if not on_device(array):
        raise InputError(f"{kinds[0]} is on the host, but another array is in the memory of a GPU; give both there")
    if kinds[0] == "speed":
        if array.size == 1:
            return _host_metric(problem)
        return _core.DeviceMetric.speed(_table(problem, "speed", array, 0))
    if kinds[0] == "metric":
        return _tensor_metric(problem, array)
    return _fiber_metric(problem, given)


def _tensor_metric(problem: Problem, array: DeviceArray) -> _core.DeviceMetric:
    matrices = array.ndim >= 2 and array.shape[-2:] == (3, 3)
    if array.size == (9 if matrices else 6):
        return _host_metric(problem)
    if not matrices and (array.ndim < 2 or array.shape[-1] != 6):
        raise InputError(f"metric has the wrong shape (it is {array.shape}); give one of shape (..., 3, 3) or (..., 6)")
    if not matrices and problem.arguments.get("tensor_order", "row") != "row":
        raise UsageError("tensor_order is row (xx, xy, xz, yy, yz, zz) in the memory of a GPU; give 3x3 matrices")
    return _core.DeviceMetric.tensor(_table(problem, "metric", array, 2 if matrices else 1))


def _fiber_metric(problem: Problem, given: dict[str, Any]) -> _core.DeviceMetric:
    sheets = given.get("sheets")
    for name, array in (("fibers", given["fibers"]), ("sheets", sheets)):
        if array is not None and (not on_device(array) or array.ndim < 2 or array.shape[-1] != 3):
            raise InputError(f"{name} must be vectors in the memory of a GPU as the rest is; give (M, 3) there")
    if "velocity" not in given or isinstance(given["velocity"], dict):
        raise UsageError("fibers in the memory of a GPU need velocity=(along, across) for all elements; give it")
    return _core.DeviceMetric.fiber(
        _table(problem, "fibers", given["fibers"], 1),
        None if sheets is None else _table(problem, "sheets", sheets, 1),
        velocities_of(given["velocity"]),
    )


def _host_metric(problem: Problem) -> _core.DeviceMetric:
    """A metric of which nothing, or a single value, is on the GPU."""
    if not on_device(problem.mesh):
        return _core.DeviceMetric.of(problem.core)
    given = problem.arguments
    if not set(given) - {"speed"}:
        speed = np.asarray(on_host(given.get("speed", 1.0)), dtype=np.float64)
        if speed.size == 1 and speed.item() > 0:
            slow = speed.item() ** -2
            return _core.DeviceMetric.uniform([slow, 0.0, 0.0, slow, 0.0, slow])
    metric = _core.DeviceMetric.of(problem.core)
    problem._converted.append("points, cells: copied to the host, where the metric is")
    return metric
