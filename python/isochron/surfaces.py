"""Well-shaped meshes from image volumes."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any, Iterable

from . import _core
from .arguments import number, whole, wholes
from .errors import SolveWarning, UsageError, warn
from .grid import Grid
from .image import rows_of, volume_of
from .mesh import Mesh, as_mesh
from .progress import reporting


class Surface(Mesh):
    """A mesh of triangles with ``point_data["size"]``, the edge length wanted at each point, and ``stats`` of how it was
    made. Of materials, ``cell_data["inside"]`` and ``["outside"]`` are the labels behind and before each triangle."""

    __slots__ = ("stats",)

    def __init__(self, points: Any, cells: Any, point_data: dict, cell_data: dict, stats: dict[str, Any]) -> None:
        super().__init__(points, cells, point_data, cell_data)
        self.stats = stats


def extract_surface(
    volume: Any,
    isovalue: float | None = None,
    *,
    labels: int | Iterable[int] | None = None,
    materials: Iterable[int] | str | None = None,
    grid: Grid | None = None,
    inside: str = "above",
    epsilon: float = 0.5,
    delta: float = 0.3,
    size_range: tuple[float, float] | None = None,
    uniform: float | None = None,
    smoothing: float | None = None,
    border: str = "close",
    most_particles: int = 0,
    iterations: int = 50,
    seed: int = 1,
    backend: str = "auto",
    threads: int = 0,
    progress: Any = None,
) -> Surface:
    """The surface of an object in a volume as a mesh of well-shaped triangles, by a particle system.

    ``volume`` is an `Image` or a 3-D array with ``grid``. The object is where values are at least ``isovalue`` (with
    ``inside="below"`` less), or the voxels with one of the ``labels``; ``materials`` ("all" or labels) gives the surfaces
    between all of them in one mesh. Edges are ``epsilon`` times the radius of curvature or the local thickness long,
    between the two lengths of ``size_range``, and change by ``delta`` per length; ``uniform`` makes all of that length.
    ``smoothing`` is in voxels (default 1 for labels). ``border`` is what happens to an object that leaves the image:
    "close" or "refuse".

    >>> import isochron
    >>> phantom = isochron.generate.phantom(shape=(24, 24, 24))
    >>> surface = isochron.extract_surface(phantom["density"], 50.0, grid=phantom.grid)
    >>> surface.kind, len(surface.points) - len(surface.cells) // 2
    ('triangle', 2)
    """
    chosen = [name for name, value in (("isovalue", isovalue), ("labels", labels), ("materials", materials)) if value is not None]
    if len(chosen) != 1:
        raise UsageError(f"{' and '.join(chosen) or 'nothing'} given (one says where the surface is); give one of isovalue, labels and materials")
    values, where, _ = volume_of(volume, grid, "volume")
    rows = rows_of(values, where, "volume")
    if size_range is not None and uniform is not None:
        raise UsageError("uniform and size_range exclude each other; give one of them")
    options = _core.SurfaceOptions(
        epsilon=number(epsilon, "epsilon"),
        delta=number(delta, "delta"),
        size_range=None if size_range is None else _size_range(size_range),
        uniform=_length(uniform, "uniform"),
        inside=str(inside),
        border=str(border),
        backend=str(backend),
        smoothing=None if smoothing is None else number(smoothing, "smoothing"),
        most_particles=whole(most_particles, "most_particles", 0, 2**32 - 1),
        iterations=whole(iterations, "iterations", 0),
        seed=whole(seed, "seed", 0, 2**64 - 1),
        threads=whole(threads, "threads", 0),
    )
    arguments = (where._core_arguments(), rows)
    with reporting(progress) as callback:
        if isovalue is not None:
            found = _core.surface_of_values(*arguments, number(isovalue, "isovalue"), options, callback)
        elif labels is not None:
            found = _core.surface_of_labels(*arguments, set(wholes(labels, "labels")), options, callback)
        else:
            every = isinstance(materials, str) and materials == "all"
            wanted = set() if every else set(wholes(materials, "materials"))
            found = _core.surface_of_materials(*arguments, wanted, options, callback)
    for note in found["notes"]:
        warn(note, SolveWarning)
    sides = {"inside": found["behind"], "outside": found["before"]} if "behind" in found else {}
    return Surface(found["points"], found["cells"], {"size": found["sizes"]}, sides, found["stats"])


def _length(value: Any, name: str) -> float:
    """A length, or 0 for None."""
    if value is None:
        return 0.0
    length = number(value, name)
    if not 0 < length < float("inf"):
        raise UsageError(f"{name} is {value!r}; give a positive length")
    return length


def _size_range(value: Any) -> tuple[float, float]:
    try:
        smallest, largest = (_length(one, "size_range") for one in value)
    except (TypeError, ValueError):
        smallest, largest = 0.0, 0.0
    if not 0 < smallest <= largest:
        raise UsageError(f"size_range is {value!r}; give two positive lengths, the smaller first")
    return smallest, largest


def tetrahedralize(
    surface: Any,
    *,
    program: str = "netgen",
    largest: float | None = None,
    grading: float = 0.3,
    executable: str | None = None,
    time_limit: float = 0.0,
    progress: Any = None,
) -> Mesh:
    """Fills a closed surface of triangles with tetrahedra; ``cell_data["region"]`` is 1, or the label of each material.

    ``program`` is "netgen" (comes with Isochron where it was built with it), "tetgen" or "gmsh". ``largest`` is the
    longest edge wanted. The surface's points come first, unchanged.
    """
    mesh = as_mesh(surface)
    if isinstance(mesh, Grid) or mesh.kind != "triangle":
        raise UsageError("surface is not a mesh of triangles; give one, as extract_surface makes it")
    sides = (mesh.cell_data.get("inside"), mesh.cell_data.get("outside"))
    if (sides[0] is None) != (sides[1] is None):
        sides = (None, None)
    with reporting(progress) as callback:
        found = _core.fill_surface(
            mesh.points,
            mesh.cells,
            *sides,
            str(program),
            executable or _helper(program),
            _length(largest, "largest"),
            number(grading, "grading"),
            number(time_limit, "time_limit"),
            callback,
        )
    return Mesh(found["points"], found["cells"], {}, {"region": found["region"]})


def _helper(program: str) -> str:
    """Where the helper that holds Netgen is: in the package, or in the build folder that the package is used from."""
    if program != "netgen":
        return ""
    package = FilePath(_core.__file__).resolve().parent
    for folder in (package, package.parent.parent / "bin"):
        if (folder / "isochron-netgen").is_file():
            return str(folder / "isochron-netgen")
    return ""
