"""Drawings of arrival times: a small picture for notebooks, made with NumPy alone, and plots with matplotlib."""

from __future__ import annotations

import struct
import zlib
from typing import Any, Protocol

import numpy as np

from .errors import UsageError
from .grid import Grid
from .mesh import Mesh

#: Early to late: dark blue, teal, green, yellow. Equal steps of lightness.
_COLOURS = np.array([[48, 18, 92], [33, 84, 140], [31, 140, 138], [92, 196, 96], [250, 230, 60]], dtype=np.float64)
_UNREACHED = (200, 200, 200)
_BANDS = 14  # between isochrones of a picture
_SIDE = 240  # its longer side, in pixels
_MANY = 2_000_000  # samples that are drawn in well under a second
_MANY_TETRAHEDRA = 100_000  # whose surface is not looked for


class Arrival(Protocol):
    """What is drawn: an `isochron.Arrival`."""

    times: np.ndarray

    @property
    def mesh(self) -> Mesh | Grid: ...

    @property
    def reached(self) -> np.ndarray: ...


def _colours(times: np.ndarray) -> np.ndarray:
    """The colours of an image of times, with isochrones; grey where nothing arrived (inf), white where nothing is (nan)."""
    reached = np.isfinite(times)
    colours = np.full(times.shape + (3,), 255, dtype=np.uint8)
    colours[np.isinf(times)] = _UNREACHED
    if not reached.any():
        return colours
    low, high = times[reached].min(), times[reached].max()
    share = np.zeros(times.shape)
    share[reached] = (times[reached] - low) / (high - low if high > low else 1.0)
    stops = np.linspace(0, 1, len(_COLOURS))
    shown = np.stack([np.interp(share[reached], stops, _COLOURS[:, c]) for c in range(3)], axis=-1)
    colours[reached] = shown * np.where(_on_isochrone(share, reached)[reached], 0.6, 1.0)[:, None]
    return colours


def _on_isochrone(share: np.ndarray, reached: np.ndarray) -> np.ndarray:
    """Pixels whose neighbour to the right or below is in another band."""
    band = np.where(reached, np.floor(share * _BANDS), -1)
    line = np.zeros(share.shape, dtype=bool)
    line[:, :-1] |= (band[:, :-1] != band[:, 1:]) & reached[:, 1:]
    line[:-1] |= (band[:-1] != band[1:]) & reached[1:]
    return line


def _png(pixels: np.ndarray) -> bytes:
    """An image of (height, width, 3) bytes as a PNG file."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def middle_slice(arrival: Arrival) -> np.ndarray:
    """The times of a grid as a flat array: all of a flat one, the middle of the last axis of others."""
    times = arrival.times
    return times if times.ndim == 2 else times[:, :, times.shape[2] // 2]


def _grid_times(arrival: Arrival) -> np.ndarray:
    """The image of times of a grid, x to the right and y upwards; nan beside a grid that is turned."""
    values = middle_slice(arrival)
    axes = _slice_axes(arrival.mesh)
    last = np.array(values.shape) - 0.5
    corners = np.array([[-0.5, -0.5], [-0.5, last[1]], [last[0], -0.5], last]) @ axes
    low, size = corners.min(axis=0), np.ptp(corners, axis=0)
    pixels = np.maximum(1, np.round(_SIDE * size / size.max()).astype(int))
    place = np.moveaxis(np.indices(pixels), 0, -1) + 0.5
    index = (low + place * size / pixels) @ np.linalg.inv(axes)
    inside = ((index > -0.5 - 1e-6) & (index < last + 1e-6)).all(axis=-1)
    i, j = np.moveaxis(np.clip(np.rint(index).astype(int), 0, np.array(values.shape) - 1), -1, 0)
    return np.where(inside, values[i, j], np.nan).T[::-1]


def _slice_axes(grid: Grid) -> np.ndarray:
    """The steps along the first two axes in the picture. Slices are seen along z, as `plot` draws them, and upright ones
    from their front, their first axis to the right."""
    if grid.ndim == 2:
        return grid.axes
    first, second = grid.axes[:2]
    seen = grid.axes[:2, :2]
    if abs(np.linalg.det(seen)) > 0.1 * np.linalg.norm(np.cross(first, second)):
        return seen
    length = np.linalg.norm(first)
    along = first @ second / length
    return np.array([[length, 0.0], [along, np.sqrt(second @ second - along**2)]])


def _is_flat(points: np.ndarray) -> bool:
    return points.shape[1] == 2 or bool(np.ptp(points[:, 2]) == 0)


def _view(points: np.ndarray) -> np.ndarray:
    """Where points are seen: right, up and towards the eye. Flat meshes face it, others are seen from a corner."""
    points = np.asarray(points, dtype=np.float64)
    if _is_flat(points):
        return np.column_stack([points[:, :2], np.zeros(len(points))])
    eye = np.array([0.58, -0.70, 0.42])
    right = np.array([0.77, 0.64, 0.0])
    return points @ np.stack([right, np.cross(eye, right), eye], axis=1)


def _outside(cells: np.ndarray) -> np.ndarray:
    """The faces of tetrahedra that belong to one of them alone."""
    faces = np.sort(np.concatenate([np.delete(cells, corner, axis=1) for corner in range(4)]), axis=1)
    unique, count = np.unique(faces, axis=0, return_counts=True)
    return unique[count == 1]


def _samples(points: np.ndarray, times: np.ndarray, cells: np.ndarray, pixel: float) -> tuple[np.ndarray, np.ndarray]:
    """Places on triangles, about a pixel apart, with their times."""
    corners = points[cells]
    longest = np.abs(np.diff(corners[:, [0, 1, 2, 0], :2], axis=1)).max() / pixel
    steps = int(np.clip(np.ceil(longest), 1, max(1.0, np.sqrt(2 * _MANY / len(cells)))))
    i, j = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1), indexing="ij")
    inside = i + j <= steps
    weights = np.stack([i[inside], j[inside], steps - i[inside] - j[inside]], axis=-1) / steps
    places = np.einsum("sc,mcx->msx", weights, corners).reshape(-1, 3)
    with np.errstate(invalid="ignore"):  # 0 times inf, at corners that were not reached
        values = np.einsum("sc,mc->ms", weights, times[cells]).reshape(-1)
    return places, np.where(np.isnan(values), np.inf, values)


def _mesh_times(arrival: Arrival) -> np.ndarray:
    """The image of times of a mesh, nearer places over farther ones. Of many tetrahedra every vertex is a dot, which
    needs no surface."""
    points, cells = _view(arrival.mesh.points), np.asarray(arrival.mesh.cells)
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    pixel = max(float((high - low).max()), np.finfo(float).tiny) / (_SIDE - 8)
    radius = 0
    if cells.shape[1] == 3 or len(cells) <= _MANY_TETRAHEDRA:
        faces = cells if cells.shape[1] == 3 else _outside(cells)
        places, values = _samples(points, arrival.times, faces, pixel)
    else:
        places, values = points, arrival.times
        radius = int(np.clip(_SIDE / len(points) ** (1 / 3), 1, 4))
    order = np.argsort(places[:, 2], kind="stable")
    width, height = np.maximum(8, np.ceil((high - low) / pixel).astype(int) + 8)
    x = ((places[order, 0] - low[0]) / pixel).astype(int) + 4
    y = height - 5 - ((places[order, 1] - low[1]) / pixel).astype(int)
    image = np.full((height, width), np.nan)
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            image[np.clip(y + dy, 0, height - 1), np.clip(x + dx, 0, width - 1)] = values[order]
    return image


def thumbnail(arrival: Arrival) -> bytes:
    """A small PNG of the times, as notebooks show it."""
    return _png(_colours(_grid_times(arrival) if isinstance(arrival.mesh, Grid) else _mesh_times(arrival)))


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot() needs matplotlib, which is not there; install it (python3-matplotlib)") from error
    return pyplot


def plot(arrival: Arrival, ax: Any = None, levels: int = _BANDS, cmap: str = "viridis", label: str = "arrival time") -> Any:
    """Draws the times with isochrones and a colour bar, and returns the axes.

    Flat meshes and flat grids are drawn as they are, other grids by the middle slice of their last axis, triangle meshes
    in space as a surface in three dimensions. For tetrahedra use PyVista or ``isochron view``.
    """
    if isinstance(arrival.mesh, Grid):
        return _plot_grid(arrival, ax, levels, cmap, label)
    if arrival.mesh.kind == "tetra":
        raise UsageError("plot() draws triangles and grids (these are tetrahedra); use PyVista or isochron view")
    if _is_flat(np.asarray(arrival.mesh.points)):
        return _plot_flat(arrival, ax, levels, cmap, label)
    return _plot_surface(arrival, ax, cmap, label)


def _reached(times: np.ndarray) -> np.ndarray:
    return np.ma.masked_invalid(np.where(np.isinf(times), np.nan, times))


def _plot_grid(arrival: Arrival, ax: Any, levels: int, cmap: str, label: str) -> Any:
    ax = ax if ax is not None else _pyplot().subplots()[1]
    grid, values = arrival.mesh, _reached(middle_slice(arrival))
    index = np.moveaxis(np.indices(values.shape), 0, -1)
    if grid.ndim == 3:
        index = np.concatenate([index, np.full(values.shape + (1,), grid.shape[2] // 2)], axis=-1)
    world = grid.position(index)
    picture = ax.pcolormesh(world[..., 0], world[..., 1], values, cmap=cmap, shading="nearest")
    if min(values.shape) > 1:
        ax.contour(world[..., 0], world[..., 1], values, levels=levels, colors="k", linewidths=0.5)
    return _finished(ax, picture, label)


def _finished(ax: Any, picture: Any, label: str) -> Any:
    ax.set_aspect("equal")
    ax.figure.colorbar(picture, ax=ax, label=label)
    return ax


def _plot_flat(arrival: Arrival, ax: Any, levels: int, cmap: str, label: str) -> Any:
    ax = ax if ax is not None else _pyplot().subplots()[1]
    points, cells = np.asarray(arrival.mesh.points), np.asarray(arrival.mesh.cells)
    cells = cells[np.isfinite(arrival.times[cells]).all(axis=1)]
    times = np.where(arrival.reached, arrival.times, 0.0)
    shape = (points[:, 0], points[:, 1], cells)
    picture = ax.tripcolor(*shape, times, cmap=cmap, shading="gouraud")
    ax.tricontour(*shape, times, levels=levels, colors="k", linewidths=0.5)
    return _finished(ax, picture, label)


def _plot_surface(arrival: Arrival, ax: Any, cmap: str, label: str) -> Any:
    ax = ax if ax is not None else _pyplot().figure().add_subplot(projection="3d")
    points, cells = np.asarray(arrival.mesh.points), np.asarray(arrival.mesh.cells)
    surface = ax.plot_trisurf(points[:, 0], points[:, 1], cells, points[:, 2], cmap=cmap, linewidth=0)
    surface.set_array(_reached(arrival.times[cells].mean(axis=1)))
    ax.figure.colorbar(surface, ax=ax, label=label)
    return ax
