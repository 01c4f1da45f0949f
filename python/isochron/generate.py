"""Meshes and images to try things on; the same as ``isochron generate`` makes."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Sequence

import numpy as np

from . import _core
from .arguments import wholes
from .image import Image, image_from_core
from .mesh import Mesh
from .problem import Problem


def _mesh(kind: str, options: dict[str, Any]) -> Mesh:
    found = _core.generate_mesh(kind, options)
    cells = "tetrahedra" if len(found["tetrahedra"]) else "triangles"
    data = "tetrahedron_data" if cells == "tetrahedra" else "triangle_data"
    return Mesh(found["points"], found[cells], found["point_data"], found[data])


def _image(kind: str, options: dict[str, Any]) -> Image:
    return image_from_core(_core.generate_image(kind, {**options, "shape": _box(options["shape"])}))


def _generator(make: Callable) -> Callable:
    """Decorates a function without a body: its name is that of the library's generator, its arguments are the options."""

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def generate(*arguments: Any, **options: Any) -> Any:
            function(*arguments, **options)  # raises what Python raises for arguments that do not fit
            given = signature.bind(*arguments, **options)
            given.apply_defaults()
            return make(function.__name__, given.arguments)

        return generate

    return decorate


def _box(n: int | Sequence[int]) -> tuple[int, ...]:
    sizes = wholes(n, "the number of vertices or voxels a side")
    return tuple(sizes * 3 if len(sizes) == 1 else sizes)


@_generator(_mesh)
def square(n: int = 65, *, extent: float = 1.0, jitter: float = 0.0, pattern: str = "diagonal", seed: int = 1) -> Mesh:
    """A flat square of triangles with n vertices a side; pattern "diagonal" or "alternating".

    >>> square(3)
    Mesh(9 points, 8 triangles)
    """


def cube(n: int | Sequence[int] = 33, *, extent: float | Sequence[float] = 1.0, jitter: float = 0.0, seed: int = 1) -> Mesh:
    """A box of tetrahedra with n vertices a side, or (nx, ny, nz); six to a cell.

    >>> cube(3)
    Mesh(27 points, 48 tetrahedra)
    """
    size = (float(extent),) * 3 if np.ndim(extent) == 0 else tuple(extent)  # type: ignore[arg-type]
    return _mesh("cube", dict(shape=_box(n), extent=size, jitter=jitter, seed=seed))


@_generator(_mesh)
def irregular_square(n: int = 65, *, extent: float = 1.0, jitter: float = 0.25, seed: int = 1) -> Mesh:
    """A flat square whose vertices have many different valences."""


@_generator(_mesh)
def irregular_cube(n: int = 17, *, extent: float = 1.0, jitter: float = 0.2, seed: int = 1) -> Mesh:
    """A cube of tetrahedra whose vertices have many different valences."""


@_generator(_mesh)
def sphere(frequency: int = 40, *, radius: float = 1.0) -> Mesh:
    """A sphere of 20 frequency² nearly equal triangles.

    >>> sphere(2)
    Mesh(42 points, 80 triangles)
    """


@_generator(_mesh)
def ventricle(
    edge: float = 1.0,
    *,
    elements: int = 0,
    endo_short: float = 17,
    endo_long: float = 47,
    epi_short: float = 27,
    epi_long: float = 54,
    base: float = 15,
    helix_endo: float = 60,
    helix_epi: float = -60,
) -> Mesh:
    """A left ventricle of tetrahedra, in mm: a truncated ellipsoid with fibres.

    ``cell_data`` has "fiber" and "sheet", ``point_data`` "transmural" (0 inside, 1 outside) and "apicobasal" (0 at the
    apex, 1 on the base). ``elements`` is the wanted number of tetrahedra, instead of the size ``edge`` of a cell.
    """


@_generator(_mesh)
def lens(n: int = 33, *, extent: float = 1.0, refractive_index: float = 2.419, jitter: float = 0.1, seed: int = 1) -> Mesh:
    """A lens in a cube of tetrahedra; ``cell_data`` has "region" and "speed"."""


@_generator(_mesh)
def blobs(
    n: int = 33,
    *,
    extent: float = 1.0,
    blobs: int = 12,
    speed_outside: float = 1.0,
    speed_inside: float = 10.0,
    jitter: float = 0.1,
    seed: int = 1,
) -> Mesh:
    """Smooth regions in a cube of tetrahedra; ``cell_data`` has "region" and "speed"."""


def random_speed(mesh: Any, low: float = 0.1, high: float = 1.0, *, smoothing: int = 10, seed: int = 1) -> np.ndarray:
    """Smooth random speeds, one per element of a mesh."""
    return _core.random_speed(Problem(mesh).shape, low, high, smoothing, seed)


@_generator(_image)
def diagonal_tensors(shape: int | Sequence[int] = 64, *, spacing: float = 1.0, coupling: float = 0.9) -> Image:
    """One velocity tensor everywhere, fast along (1, 1, 1)."""


@_generator(_image)
def helix_tensors(
    shape: int | Sequence[int] = 64,
    *,
    spacing: float = 1.0,
    radius: float = 0.3,
    tube: float = 0.08,
    turns: float = 2.0,
    along: float = 1.0,
    across: float = 1e-4,
) -> Image:
    """Velocity tensors along a helix in a tube, isotropic outside."""


@_generator(_image)
def crossing_fibers(
    shape: Sequence[int] = (64, 64, 24),
    *,
    spacing: float = 2.0,
    angle: float = 60.0,
    radius: float = 0.12,
    along: float = 1.7e-3,
    across: float = 0.2e-3,
    background: float = 0.8e-3,
    noise: float = 0.0,
    seed: int = 1,
) -> Image:
    """Diffusion tensors of two bundles that cross; arrays "tensor", "mask" and "fa".

    >>> crossing_fibers((16, 16, 6))["tensor"].shape
    (16, 16, 6, 6)
    """


@_generator(_image)
def layers(
    shape: Sequence[int] = (301, 101),
    *,
    spacing: float = 10.0,
    layers: int = 8,
    speed_top: float = 1500.0,
    speed_bottom: float = 4500.0,
    relief: float = 0.6,
    seed: int = 1,
) -> Image:
    """Speeds of a layered underground, m/s; axis 0 is x, axis 1 the depth."""


@_generator(_image)
def salt(
    shape: Sequence[int] = (301, 101),
    *,
    spacing: float = 10.0,
    speed_top: float = 1500.0,
    speed_bottom: float = 3500.0,
    speed_salt: float = 4500.0,
    radius: float = 0.25,
    roughness: float = 0.25,
    seed: int = 1,
) -> Image:
    """Speeds of an underground with a body of fast salt, m/s; axis 0 is x, axis 1 the depth."""


@_generator(_image)
def phantom(
    shape: int | Sequence[int] = 64, *, spacing: float = 1.0, radius: float = 0.28, wall: float = 0.08, tube: float = 0.06
) -> Image:
    """A chamber in a ring, to take surfaces from; arrays "label" and "density"."""
