"""White-matter pathways in images of diffusion tensors."""

from __future__ import annotations

import inspect
from typing import Any, Sequence

import numpy as np

from . import _core
from .arguments import number, whole
from .errors import InputError, SolveWarning, warn
from .grid import Grid
from .image import Image, from_rows, rows_of, volume_of
from .mesh import host_array as as_array
from .paths import Path, path_from_core
from .progress import reporting
from .solving import solve_options
from .sources import as_places, warn_of_index


class Sphere:
    """A region of an image: all voxels whose centres are within ``radius`` of ``center`` (world), or the one nearest.

    >>> Sphere((0, 0, 0), 2.5)
    Sphere((0.0, 0.0, 0.0), 2.5)
    """

    __slots__ = ("center", "radius")

    def __init__(self, center: Sequence[float], radius: float) -> None:
        if np.ndim(center) != 1:
            raise InputError(f"center is {center!r} (the middle of a sphere); give its three coordinates")
        self.center = tuple(number(c, "center") for c in center)
        self.radius = number(radius, "radius")
        if len(self.center) != 3 or not np.isfinite(self.center).all() or not self.radius >= 0:
            raise InputError(f"a sphere has three coordinates and a radius (it is {center!r}, {radius!r}); give those")

    def voxels(self, grid: Grid) -> np.ndarray:
        """Ids of its voxels."""
        index = grid.index(self.center)
        if (index < -0.5).any() or (index > np.array(grid.shape) - 0.5).any():
            raise InputError(f"the middle of {self!r} is outside the image; give a position in it")
        distance = np.linalg.norm(grid.points() - self.center, axis=-1)
        inside = distance <= max(self.radius, float(distance.min()))
        return np.flatnonzero(grid.flat(inside, "sphere"))

    def __repr__(self) -> str:
        return f"Sphere({self.center}, {self.radius})"


class Connection:
    """The pathway between two regions.

    ``cost`` is, per voxel, the least cost of all paths through it; ``least_cost`` that of the best; ``pathway`` is where
    the cost is within ``epsilon`` of it; ``volume`` its volume; ``path`` the best `Path`; ``profile`` a dict of arrays
    along it (distance, fa, md, local_cost, cost); ``mean_fa`` and ``mean_md`` its averages; ``stats`` what was done.
    """

    __slots__ = (
        "cost",
        "least_cost",
        "pathway",
        "epsilon",
        "volume",
        "path",
        "profile",
        "mean_fa",
        "mean_md",
        "forward_cost",
        "backward_cost",
        "grid",
        "stats",
    )

    def __init__(self, found: dict, grid: Grid) -> None:
        self.cost = from_rows(found["cost"], grid)
        self.pathway = from_rows(found["pathway"], grid).astype(bool)
        self.path: Path = path_from_core(found["path"])
        self.grid = grid
        for name in ("least_cost", "epsilon", "volume", "profile", "mean_fa", "mean_md", "stats"):
            setattr(self, name, found[name])
        self.forward_cost: float = found["forward_cost"]
        self.backward_cost: float = found["backward_cost"]

    def __repr__(self) -> str:
        return (
            f"Connection(cost {self.least_cost:.6g}, path of {self.path.length:.6g}, "
            f"pathway of {int(self.pathway.sum())} voxels)"
        )


class Connectome:
    """Costs between all pairs of labels: ``cost``, ``length`` and ``normalised`` (cost per length) are square matrices in
    the order of ``labels``, 0 on the diagonal and inf for pairs that no path joins; ``fa`` is the mean anisotropy along
    the paths, 0 for both."""

    __slots__ = ("labels", "cost", "length", "normalised", "fa", "unconnected", "unfinished", "asymmetry", "stats")

    def __init__(self, found: dict) -> None:
        for name in self.__slots__:
            setattr(self, name, found[name])

    def __repr__(self) -> str:
        return f"Connectome({len(self.labels)} labels, {self.unconnected} pairs without a path)"


class TensorFit:
    """Diffusion tensors of a fit: ``tensors`` (grid.shape + (6,): xx, xy, xz, yy, yz, zz in the world frame), ``fa``,
    ``md``, and ``counts`` of what became of the voxels. ``image`` has all of it for `isochron.write`."""

    __slots__ = ("grid", "tensors", "fa", "md", "counts")

    def __init__(self, found: dict, grid: Grid) -> None:
        self.grid = grid
        self.tensors = from_rows(found["tensors"], grid)
        self.fa = from_rows(found["fa"], grid)
        self.md = from_rows(found["md"], grid)
        self.counts = found["counts"]

    @property
    def image(self) -> Image:
        """The tensors as an image."""
        return Image(self.grid, {"tensor": self.tensors}, tensor_order="row")

    def __repr__(self) -> str:
        return f"TensorFit({self.counts['fitted']} of {self.counts['voxels']} voxels fitted)"


class Tracts:
    """An image of diffusion tensors, prepared for many pathways.

    tensors
        An `Image` (as `isochron.read` gives it), a `TensorFit`, or an array of shape ``grid.shape + (6,)`` or
        ``+ (3, 3)`` with ``grid``. Six components are in the order of ``tensor_order`` (default: what the file says, else "row": xx, xy,
        xz, yy, yz, zz), along the axes of ``tensor_frame`` ("world", "voxel" or "fsl").
    mask
        Where paths may go, of the grid's shape.
    metric, alpha
        "sharpened" (with ``alpha``), "inverse" or "adjugate": what crossing a voxel costs.
    eigenvalue_floor
        Smaller eigenvalues are raised to this share of the image's median mean diffusivity.

    >>> import isochron
    >>> image = isochron.generate.crossing_fibers(shape=(24, 24, 8))
    >>> tracts = isochron.Tracts(image, mask=image["mask"])
    >>> tracts.connect([[3, 6, 4]], [[20, 17, 4]]).path.length > 40
    True
    """

    def __init__(
        self,
        tensors: Any,
        grid: Grid | None = None,
        *,
        mask: Any = None,
        metric: str = "sharpened",
        alpha: float = 3.0,
        eigenvalue_floor: float = 0.01,
        tensor_order: str | None = None,
        tensor_frame: str = "world",
    ) -> None:
        given = tensors.image if isinstance(tensors, TensorFit) else tensors
        values, self.grid, order = volume_of(given, grid, "tensors")
        matrices = values.ndim == self.grid.ndim + 2
        if values.shape[self.grid.ndim :] not in ((6,), (3, 3)):
            wanted = f"{self.grid.shape} + (6,) or (3, 3)"
            raise InputError(f"tensors has the wrong shape (it is {values.shape}); give an array of shape {wanted}")
        self._given = (
            rows_of(values, self.grid, "tensors", 2 if matrices else 1),
            str(tensor_order or order or "row"),
            str(tensor_frame),
            None if mask is None else rows_of(_plain(mask), self.grid, "mask"),
            str(metric),
            number(alpha, "alpha"),
            number(eigenvalue_floor, "eigenvalue_floor"),
        )
        self._core = _core.Tracts(self.grid._core_arguments(), *self._given)

    def __getstate__(self) -> tuple:
        return self.grid, self._given

    def __setstate__(self, state: tuple) -> None:
        self.grid, self._given = state
        self._core = _core.Tracts(self.grid._core_arguments(), *self._given)

    @property
    def counts(self) -> dict[str, int]:
        """What was found in the voxels of the mask: usable, empty, not_finite, not_positive_definite, fa_above_one,
        floored."""
        return self._core.counts

    def connect(
        self,
        source: Any,
        target: Any,
        *,
        epsilon: float = 0.05,
        waypoints: Sequence[Any] = (),
        exclude: Sequence[Any] = (),
        stop: Sequence[Any] = (),
        progress: Any = None,
        **options: Any,
    ) -> Connection:
        """The pathway between two regions: the cheapest path, and all that is nearly as cheap.

        Regions are a `Sphere`, a boolean array of the grid's shape, voxel ids, indices (K, 3) or positions (K, 3). Paths
        pass the ``waypoints`` in their order, avoid ``exclude``, and may end but not go on in ``stop``. ``epsilon`` is how
        much dearer than the best a voxel of the pathway may be, as a share. Other options are those of `Solver` for grids
        (backend, precision, threads, scheme, order, verify).
        """
        with reporting(progress) as callback:
            found = self._core.connect(
                self._ids(source, "source"),
                self._ids(target, "target"),
                [self._ids(region, "waypoints") for region in waypoints],
                [self._ids(region, "exclude") for region in exclude],
                [self._ids(region, "stop") for region in stop],
                number(epsilon, "epsilon"),
                solve_options(**options),
                callback,
            )
        for note in found["notes"]:
            warn(note, SolveWarning)
        return Connection(found, self.grid)

    def connectome(self, labels: Any, *, progress: Any = None, **options: Any) -> Connectome:
        """Costs of the best paths between all pairs of labels (all but 0) of an integer array of the grid's shape."""
        rows = rows_of(_plain(labels), self.grid, "labels")
        if rows.dtype.kind == "f" and np.isnan(rows).any():
            raise InputError(f"labels holds NaN in {np.count_nonzero(np.isnan(rows))} voxels; give 0 where no label is")
        with reporting(progress) as callback:
            return Connectome(self._core.connect_labels(rows, solve_options(**options), callback))

    def __repr__(self) -> str:
        return f"Tracts({self.grid!r}; {self.counts['usable']} of {self.counts['voxels']} voxels usable)"

    def _ids(self, region: Any, name: str) -> np.ndarray:
        """Voxels of a region: a Sphere, a mask, ids, indices or positions."""
        if isinstance(region, Sphere):
            return region.voxels(self.grid)
        warn_of_index(region, self.grid, name)
        chosen = as_places(_plain(region), name, self.grid)
        if chosen.vertices is not None:
            return chosen.vertices
        index = np.rint(self.grid.index(chosen.points)).astype(np.int64)
        if (index < 0).any() or (index >= np.array(self.grid.shape)).any():
            raise InputError(f"{name} holds a position outside the image; give positions in it")
        return np.ravel_multi_index(tuple(np.atleast_2d(index).T), self.grid.shape, order="F")


def _plain(values: Any) -> np.ndarray:
    return values.data if isinstance(values, Image) else as_array(values)


#: Options of `Tracts`; those of `connect` and `connectome` that are not among them are for the solves.
_TENSOR_OPTIONS = tuple(name for name in inspect.signature(Tracts).parameters if name != "tensors")


def _prepared(tensors: Any, options: dict[str, Any]) -> Tracts:
    """Takes the options about the tensors out of `options`."""
    return Tracts(tensors, **{name: options.pop(name) for name in _TENSOR_OPTIONS if name in options})


def connect(tensors: Any, source: Any, target: Any, **options: Any) -> Connection:
    """The cheapest path between two regions of a diffusion-tensor image, and all that is nearly as cheap.

    Options about the tensors (``grid``, ``mask``, ``metric``, ``alpha``, ``eigenvalue_floor``, ``tensor_order``,
    ``tensor_frame``) are those of `Tracts`, all others (``epsilon``, ``waypoints``, ``exclude``, ``stop``, ``progress``, and
    those of the solves) of `Tracts.connect`, which is quicker for several pathways in one image.

    >>> import isochron
    >>> image = isochron.generate.crossing_fibers(shape=(24, 24, 8))
    >>> isochron.connect(image, [[3, 6, 4]], [[20, 17, 4]], mask=image["mask"], epsilon=0.1).path.length > 40
    True
    """
    return _prepared(tensors, options).connect(source, target, **options)


def connectome(tensors: Any, labels: Any, **options: Any) -> Connectome:
    """Costs of the best paths between all pairs of labels (all but 0) of an integer array of the grid's shape.

    Options about the tensors are those of `Tracts`, all others of `Tracts.connectome`.
    """
    return _prepared(tensors, options).connectome(labels, **options)


def tensor_fit(
    signal: Any,
    bvals: Any,
    bvecs: Any,
    *,
    grid: Grid | None = None,
    mask: Any = None,
    method: str = "wls",
    frame: str = "fsl",
    threads: int = 0,
    progress: Any = None,
) -> TensorFit:
    """Diffusion tensors from a diffusion-weighted image.

    ``signal`` is an `Image`, or an array of shape ``grid.shape + (volumes,)``; ``bvals`` has a b-value and ``bvecs``,
    (volumes, 3) or (3, volumes) as FSL writes them, a direction for each volume. ``frame`` says along which axes the
    directions are: "fsl" (as in .bvec files) or "world". ``method`` is "wls" or "ols".
    """
    values, where, _ = volume_of(signal, grid, "signal")
    directions = as_array(bvecs)
    if directions.ndim == 2 and directions.shape[0] == 3 and directions.shape[1] == np.size(bvals) != 3:
        directions = directions.T
    inside = None if mask is None else rows_of(_plain(mask), where, "mask")
    with reporting(progress) as callback:
        found = _core.tensor_fit(
            where._core_arguments(),
            rows_of(values, where, "signal", 1),
            as_array(bvals),
            directions,
            str(frame),
            inside,
            str(method),
            whole(threads, "threads", 0),
            callback,
        )
    return TensorFit(found, where)
