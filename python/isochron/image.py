"""Images: arrays on the voxels of a grid, as files hold them."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from .errors import InputError, UsageError
from .grid import Grid, grid_from_core
from .mesh import host_array as as_array


class Image:
    """Named arrays on one grid.

    ``arrays`` maps names to arrays whose first axes are those of ``grid``; a vector or tensor has one axis more.
    ``data`` is the first of them. ``tensor_order`` names the order of six tensor components where a file says it.

    >>> image = Image(Grid((4, 3), spacing=0.5), {"speed": np.ones((4, 3))})
    >>> image
    Image(Grid((4, 3), spacing=[0.5, 0.5], origin=[0.0, 0.0]); speed)
    >>> image["speed"].shape
    (4, 3)
    """

    __slots__ = ("grid", "arrays", "tensor_order")

    def __init__(self, grid: Grid, arrays: Mapping[str, Any], tensor_order: str | None = None) -> None:
        if not isinstance(grid, Grid):
            raise UsageError(f"grid is a {type(grid).__name__} (it says where the voxels are); give a Grid")
        if not isinstance(arrays, Mapping):
            raise UsageError(f"arrays is a {type(arrays).__name__}; give a dict of arrays by name")
        self.grid = grid
        self.arrays = {name: as_array(values) for name, values in arrays.items()}
        self.tensor_order = tensor_order
        for name, values in self.arrays.items():
            if values.shape[: grid.ndim] != grid.shape:
                raise InputError(
                    f"the array {name!r} has the wrong shape (it is {values.shape}); its first axes must be {grid.shape}"
                )

    @property
    def data(self) -> np.ndarray:
        """The first array."""
        if not self.arrays:
            raise InputError("the image has no array; give one that has")
        return next(iter(self.arrays.values()))

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    def __repr__(self) -> str:
        return f"Image({self.grid!r}; {', '.join(self.arrays) or 'no arrays'})"


def image_from_core(found: dict) -> Image:
    """An image from what the library read or made."""
    grid = grid_from_core(found["grid"])
    arrays = {name: from_rows(values, grid) for name, values in found["arrays"].items()}
    return Image(grid, arrays, found["tensor_order"])


def from_rows(values: np.ndarray, grid: Grid) -> np.ndarray:
    """A row per voxel, the first index running fastest, as an array of the grid's shape; without a copy."""
    if values.ndim == 1:
        return values.reshape(grid.shape, order="F")
    stored = values.reshape(grid.shape[::-1] + values.shape[1:])
    return stored.transpose(tuple(range(grid.ndim))[::-1] + tuple(range(grid.ndim, stored.ndim)))


def in_file_order(grid: Grid) -> Grid:
    """The same voxels, counted with the first index running fastest, as files and image code count."""
    return Grid(grid.shape, grid.spacing, grid.origin, grid.direction, order="F")


def volume_of(volume: Any, grid: Grid | None, name: str) -> tuple[np.ndarray, Grid, str | None]:
    """Values, grid in file order and tensor order from an Image, or an array with a grid."""
    if isinstance(volume, Image):
        if grid is not None:
            raise UsageError(f"grid does not go with an Image as {name} (it has its own); leave it out")
        return volume.data, in_file_order(volume.grid), volume.tensor_order
    if not isinstance(grid, Grid):
        raise UsageError(f"{name} is an array without a grid (where its voxels are is not known); give grid=Grid(...)")
    return as_array(volume), in_file_order(grid), None


def rows_of(values: np.ndarray, grid: Grid, name: str, trailing: int = 0) -> np.ndarray:
    """A row per voxel of the grid (in file order), its components side by side."""
    flat = grid.flat(values, name, trailing)
    return flat.reshape(grid.size, -1) if trailing else flat
