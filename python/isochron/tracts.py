"""White-matter pathways in images of diffusion tensors."""

from __future__ import annotations

import warnings
from typing import Any, Sequence

import numpy as np

from . import _core
from .errors import InputError, SolveWarning
from .grid import Grid
from .image import Image, from_rows, rows_of, volume_of
from .mesh import host_array as as_array
from .paths import Path, path_from_core
from .progress import Reporter
from .solving import _options
from .sources import as_sources


class Sphere:
    """A region of an image: all voxels whose centres are within ``radius`` of ``center`` (world), or the one nearest.

    >>> Sphere((0, 0, 0), 2.5)
    Sphere((0.0, 0.0, 0.0), 2.5)
    """

    __slots__ = ("center", "radius")

    def __init__(self, center: Sequence[float], radius: float) -> None:
        self.center = tuple(float(c) for c in center)
        self.radius = float(radius)
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
    the order of ``labels``, 0 on the diagonal and inf for pairs that no path joins."""

    __slots__ = ("labels", "cost", "length", "normalised", "unconnected", "unfinished", "asymmetry", "stats")

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
    """An image of diffusion tensors, prepared for many pathways; takes the arguments of `connect` about the tensors.

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
        values, self.grid, order = volume_of(tensors, grid, "tensors")
        trailing = 2 if values.ndim == self.grid.ndim + 2 else 1
        rows = rows_of(values, self.grid, "tensors", trailing)
        inside = None if mask is None else rows_of(_plain(mask), self.grid, "mask")
        self._core = _core.Tracts(
            self.grid._core_arguments(),
            rows,
            tensor_order or order or "row",
            tensor_frame,
            inside,
            metric,
            alpha,
            eigenvalue_floor,
        )

    @property
    def counts(self) -> dict[str, int]:
        """What was found in the tensors: usable, empty, not_finite, not_positive_definite, floored."""
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
        """The pathway between two regions; see `connect`."""
        reporter = Reporter(progress)
        try:
            found = self._core.connect(
                self._ids(source, "source"),
                self._ids(target, "target"),
                [self._ids(region, "waypoints") for region in waypoints],
                [self._ids(region, "exclude") for region in exclude],
                [self._ids(region, "stop") for region in stop],
                epsilon,
                _options(options.pop("precision", None), **options),
                reporter.callback,
            )
        finally:
            reporter.close()
        for note in found["notes"]:
            warnings.warn(note, SolveWarning, stacklevel=3)
        return Connection(found, self.grid)

    def connectome(self, labels: Any, *, progress: Any = None, **options: Any) -> Connectome:
        """All pairs of labels; see `connectome`."""
        rows = rows_of(_plain(labels), self.grid, "labels")
        reporter = Reporter(progress)
        try:
            return Connectome(
                self._core.connect_labels(rows, _options(options.pop("precision", None), **options), reporter.callback)
            )
        finally:
            reporter.close()

    def _ids(self, region: Any, name: str) -> np.ndarray:
        """Voxels of a region: a Sphere, a mask, ids, indices or positions."""
        if isinstance(region, Sphere):
            return region.voxels(self.grid)
        try:
            chosen = as_sources(_plain(region), None, None, self.grid)
        except InputError as error:
            raise InputError(str(error).replace("sources", name).replace("(the front must start somewhere)", "")) from None
        if chosen.vertices is not None:
            return chosen.vertices
        index = np.rint(self.grid.index(chosen.points)).astype(np.int64)
        if (index < 0).any() or (index >= np.array(self.grid.shape)).any():
            raise InputError(f"{name} holds a position outside the image; give positions in it")
        return np.ravel_multi_index(tuple(np.atleast_2d(index).T), self.grid.shape, order="F")


def _plain(values: Any) -> np.ndarray:
    return values.data if isinstance(values, Image) else as_array(values)


def connect(
    tensors: Any,
    source: Any,
    target: Any,
    *,
    grid: Grid | None = None,
    epsilon: float = 0.05,
    waypoints: Sequence[Any] = (),
    exclude: Sequence[Any] = (),
    stop: Sequence[Any] = (),
    mask: Any = None,
    metric: str = "sharpened",
    alpha: float = 3.0,
    eigenvalue_floor: float = 0.01,
    tensor_order: str | None = None,
    tensor_frame: str = "world",
    progress: Any = None,
    **options: Any,
) -> Connection:
    """The cheapest path between two regions of a diffusion-tensor image, and all that is nearly as cheap.

    tensors
        An `Image` (as `isochron.read` gives it), or an array of shape ``grid.shape + (6,)`` or ``+ (3, 3)`` with
        ``grid``. Six components are in the order of ``tensor_order`` (default: what the file says, else "row": xx, xy,
        xz, yy, yz, zz), along the axes of ``tensor_frame`` ("world", "voxel" or "fsl").
    source, target, waypoints, exclude, stop
        Regions: a `Sphere`, a boolean array of the grid's shape, voxel ids, indices (K, 3) or positions (K, 3). Paths
        pass the waypoints in their order, avoid ``exclude``, and may end but not go on in ``stop``.
    epsilon
        How much dearer than the best a voxel of the pathway may be, as a share.
    metric, alpha
        "sharpened" (with ``alpha``), "inverse" or "adjugate": what crossing a voxel costs.

    Other options are those of `Solver` for grids (backend, precision, threads, scheme, order, verify).
    """
    tracts = Tracts(
        tensors,
        grid,
        mask=mask,
        metric=metric,
        alpha=alpha,
        eigenvalue_floor=eigenvalue_floor,
        tensor_order=tensor_order,
        tensor_frame=tensor_frame,
    )
    return tracts.connect(
        source, target, epsilon=epsilon, waypoints=waypoints, exclude=exclude, stop=stop, progress=progress, **options
    )


def connectome(
    tensors: Any,
    labels: Any,
    *,
    grid: Grid | None = None,
    mask: Any = None,
    metric: str = "sharpened",
    alpha: float = 3.0,
    eigenvalue_floor: float = 0.01,
    tensor_order: str | None = None,
    tensor_frame: str = "world",
    progress: Any = None,
    **options: Any,
) -> Connectome:
    """Costs of the best paths between all pairs of labels (all but 0) of an integer array of the grid's shape.

    Arguments about the tensors are those of `connect`.
    """
    tracts = Tracts(
        tensors,
        grid,
        mask=mask,
        metric=metric,
        alpha=alpha,
        eigenvalue_floor=eigenvalue_floor,
        tensor_order=tensor_order,
        tensor_frame=tensor_frame,
    )
    return tracts.connectome(labels, progress=progress, **options)


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
    reporter = Reporter(progress)
    try:
        found = _core.tensor_fit(
            where._core_arguments(),
            rows_of(values, where, "signal", 1),
            as_array(bvals),
            directions,
            frame,
            inside,
            method,
            threads,
            reporter.callback,
        )
    finally:
        reporter.close()
    return TensorFit(found, where)
