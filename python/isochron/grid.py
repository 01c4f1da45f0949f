"""Regular grids: where the voxels of an image or the samples of a field are."""

from __future__ import annotations

import math
import operator
from typing import Any, Sequence

import numpy as np

from .errors import InputError


def _numbers(value: Any, name: str, count: int) -> np.ndarray:
    """`count` finite numbers, of which one may stand for all."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; give {count} numbers") from None
    if numbers.ndim == 0:
        numbers = np.full(count, float(numbers))
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise InputError(f"{name} has the wrong shape or is not finite (it is {value!r}); give {count} numbers")
    return numbers


def steps(value: Any, name: str, count: int) -> np.ndarray:
    """Distances between voxels along each axis."""
    numbers = _numbers(value, name, count)
    if not numbers.all():
        raise InputError(f"{name} is {value!r} (voxels at one place); give steps that are not 0")
    return numbers


def _counts(shape: Any) -> tuple[int, ...]:
    """Voxels along each axis."""
    try:
        counts = tuple(operator.index(n) for n in np.atleast_1d(shape).tolist())
    except TypeError:
        raise InputError(f"shape is {shape!r} (it counts voxels); give whole numbers") from None
    if counts and max(counts) >= 2**32:
        raise InputError(f"shape is {shape!r} (an axis has at most {2**32 - 1} voxels); give a smaller one")
    if len(counts) not in (2, 3) or min(counts) < 1:
        raise InputError(f"shape is {shape!r} (a grid has two or three dimensions of at least one voxel); give another")
    return counts


class Grid:
    """A regular grid in two or three dimensions.

    Index ``(i, j, k)`` lies at ``origin + direction @ (spacing * (i, j, k))``: axis ``a`` of an array of the shape runs
    along column ``a`` of ``direction``. Arrays of values on the grid have its shape. ``order`` is how such arrays lie in
    memory: with ``"C"`` (NumPy's own) arrays in C order are used without a copy, with ``"F"`` those in Fortran order, as
    nibabel gives them. Voxel ids count in that order.

    >>> grid = Grid((3, 4), spacing=0.5)
    >>> grid.size, grid.position((2, 1))
    (12, array([1. , 0.5]))
    """

    __slots__ = ("shape", "spacing", "origin", "direction", "order")

    def __init__(
        self,
        shape: Sequence[int],
        spacing: float | Sequence[float] = 1.0,
        origin: float | Sequence[float] = 0.0,
        direction: Any = None,
        order: str = "C",
    ) -> None:
        self.shape = _counts(shape)
        dims = len(self.shape)
        self.spacing = steps(spacing, "spacing", dims)
        self.origin = _numbers(origin, "origin", dims)
        try:
            self.direction = np.eye(dims) if direction is None else np.array(direction, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"direction is {direction!r}; give a matrix of shape ({dims}, {dims})") from None
        if self.direction.shape != (dims, dims):
            raise InputError(
                f"direction has the wrong shape (it is {self.direction.shape}); give a matrix of shape ({dims}, {dims})"
            )
        if not (np.isfinite(self.direction).all() and abs(np.linalg.det(self.direction)) > 0):
            raise InputError(f"direction is {self.direction.tolist()} (its columns span no space); give independent ones")
        if order not in ("C", "F"):
            raise InputError(f"order is {order!r} (how arrays lie in memory); give 'C' or 'F'")
        self.order = order

    @property
    def ndim(self) -> int:
        """Two or three."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of voxels."""
        return math.prod(self.shape)

    @property
    def axes(self) -> np.ndarray:
        """Step from one voxel to the next along each axis, one row an axis."""
        return (self.direction * self.spacing).T

    def position(self, index: Any) -> np.ndarray:
        """World position of an index or of many (last axis), which may lie between voxels."""
        return self.origin + np.asarray(index, dtype=np.float64) @ self.axes

    def index(self, position: Any) -> np.ndarray:
        """The inverse of `position`."""
        return (np.asarray(position, dtype=np.float64) - self.origin) @ np.linalg.inv(self.axes)

    def points(self) -> np.ndarray:
        """World positions of all voxels, of shape ``shape + (ndim,)``."""
        return self.position(np.moveaxis(np.indices(self.shape), 0, -1))

    def flat(self, values: np.ndarray, name: str, trailing: int = 0) -> np.ndarray:
        """Values on the grid as one row per voxel; the last `trailing` axes belong to the values."""
        lead = values.shape[: values.ndim - trailing]
        rest = values.shape[values.ndim - trailing :]
        if lead == self.shape:
            if self.order == "F":
                values = values.transpose(tuple(range(self.ndim))[::-1] + tuple(range(self.ndim, values.ndim)))
            return values.reshape((self.size,) + rest)
        if lead == (self.size,):
            return values
        wanted = self.shape + rest
        raise InputError(f"{name} has the wrong shape (it is {values.shape}); give an array of shape {wanted}")

    def shaped(self, values: np.ndarray) -> np.ndarray:
        """A row per voxel id as an array of the grid's shape (and the rest of the row's), without a copy."""
        if values.ndim == 1:
            return values.reshape(self.shape, order=self.order)
        if self.order == "C":
            return values.reshape(self.shape + values.shape[1:])
        turned = values.reshape(self.shape[::-1] + values.shape[1:])
        return turned.transpose(tuple(range(self.ndim))[::-1] + tuple(range(self.ndim, turned.ndim)))

    def _core_arguments(self) -> tuple:
        """Shape, origin and axes as the library counts, its first index running fastest."""
        axes = np.zeros((3, 3))
        axes[: self.ndim, : self.ndim] = self.axes
        if self.ndim == 2:
            axes[2, 2] = 1.0
        origin = np.zeros(3)
        origin[: self.ndim] = self.origin
        turn = list(range(self.ndim))[:: -1 if self.order == "C" else 1]
        shape = [self.shape[a] for a in turn] + [1] * (3 - self.ndim)
        rows = [axes[a].tolist() for a in turn] + [axes[2].tolist()] * (3 - self.ndim)
        return shape, origin.tolist(), rows

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grid):
            return NotImplemented
        return (
            self.shape == other.shape
            and self.order == other.order
            and np.array_equal(self.axes, other.axes)
            and np.array_equal(self.origin, other.origin)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        text = f"Grid({self.shape}, spacing={self.spacing.tolist()}, origin={self.origin.tolist()}"
        if not np.array_equal(self.direction, np.eye(self.ndim)):
            text += f", direction={self.direction.tolist()}"
        return text + (", order='F')" if self.order == "F" else ")")


def _direction(axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    spacing = np.linalg.norm(axes, axis=1)
    return spacing, (axes / spacing[:, None]).T


def grid_from_core(core: tuple) -> Grid:
    """A grid from the library's shape, origin and axes; flat ones in the plane z = 0 have two dimensions."""
    shape, origin, rows = core
    axes = np.array(rows)
    in_plane = shape[2] == 1 and not axes[:2, 2].any() and not axes[2, :2].any() and origin[2] == 0
    dims = 2 if in_plane else 3
    spacing, direction = _direction(axes[:dims, :dims])
    return Grid(shape[:dims], spacing, origin[:dims], direction, order="F")
