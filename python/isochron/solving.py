"""First-arrival times: one solve in one line, or many on what was prepared once."""

from __future__ import annotations

import inspect
from typing import Any, Iterable, Iterator

import numpy as np

from . import _core
from .arguments import no_others
from .arrival import Arrival, unpack, with_warnings
from .device import DeviceBackend
from .errors import InputError, SolveWarning, UsageError, warn
from .gradients import Linearization
from .grid import Grid
from .levelset import ContourSources, level_set_sources
from .mesh import on_host
from .problem import METRIC_ARGUMENTS, Problem
from .progress import reporting
from .sources import Sources, as_places, as_sources, warn_of_index

_PRECISIONS = {None: "auto", "float32": "single", "float64": "double"}


def solve_options(precision: Any = None, **options: Any) -> _core.Options:
    """The library's options, None for its own choice. Names and types that it does not know raise an error of one line."""
    options = {name: value for name, value in options.items() if value is not None}
    try:
        name = precision if isinstance(precision, str) or precision is None else np.dtype(precision).name  # np.float32
    except TypeError:
        raise UsageError(f"precision is {precision!r}; give 'single', 'double' or a NumPy type like np.float32") from None
    options["precision"] = _PRECISIONS.get(name, name)
    try:
        return _core.Options(**options)
    except TypeError as error:
        raise (_wrong_option(options) or error) from None


def _wrong_option(options: dict[str, Any]) -> Exception | None:
    """What to raise for the first option that cannot be one."""
    for name, value in options.items():
        if name not in SOLVER_ARGUMENTS:
            return TypeError(f"there is no option {name!r}; see isochron.Solver for those there are")
        try:
            _core.Options(**{name: value})
        except TypeError:
            return UsageError(f"{name} is {value!r} (a {type(value).__name__}), which it cannot be; see isochron.solve")
    return None


class Solver:
    """A mesh or grid with a metric, prepared for many solves.

    Takes the arguments of `solve` but the sources; arrays that are used without a copy must not change as long as the
    solver is used. Threads that call a solver at once take turns.

    Points, cells, speed, metric, fibers and sheets may be in the memory of a GPU (CuPy, PyTorch, anything with DLPack or
    ``__cuda_array_interface__``): then the solve is on that GPU, and they are not copied to the host. With
    ``out="device"`` the times and sources stay there too, as a `DeviceArray` that those libraries take without a copy.

    >>> import isochron
    >>> grid = isochron.Grid((50, 50))
    >>> solver = isochron.Solver(grid)
    >>> float(solver.solve([0]).times[0, 10])
    10.0
    >>> solver.set_speed(2.0)
    >>> float(solver.solve([0]).times[0, 10])
    5.0
    """

    def __init__(
        self,
        mesh: Any,
        *,
        speed: Any = None,
        metric: Any = None,
        velocity_tensor: Any = None,
        fibers: Any = None,
        sheets: Any = None,
        velocity: Any = None,
        regions: Any = None,
        tensor_order: str | None = None,
        mask: Any = None,
        method: str = "auto",
        backend: str = "auto",
        precision: Any = None,
        verify: bool = False,
        threads: int = 0,
        tolerance: float | None = None,
        source_init: str = "ball",
        ball_rings: int = 8,
        split_obtuse: str = "auto",
        unordered: str = "refuse",
        reorder: str = "auto",
        weights: bool = False,
        labels: bool = True,
        band_width: float = 0.0,
        scheme: str = "auto",
        order: int = 1,
        out: str = "host",
    ) -> None:
        given = locals()
        self.problem = Problem(mesh, mask, **{name: given[name] for name in METRIC_ARGUMENTS})
        if out not in ("host", "device"):
            raise UsageError(f"unknown out {out!r} (where the times go); choose one of: host, device")
        if not isinstance(self.problem.mesh, Grid) and (scheme not in (None, "auto") or order not in (None, 1)):
            raise UsageError("scheme and order are for grids; leave them out")
        self._out = out
        self._arguments = {name: value for name, value in given.items() if name in SOLVE_OPTIONS}
        self._core = self._make_core(self.problem)

    def _make_core(self, problem: Problem) -> Any:
        options = solve_options(**self._arguments)
        if self._out == "device" or problem.on_device:
            labels = self._arguments["labels"] is None or bool(self._arguments["labels"])
            return DeviceBackend(problem, options, keep=self._out == "device", labels=labels)
        return _core.Solver(problem.core, options)

    def __getstate__(self) -> tuple:
        return self.problem, self._arguments, self._out

    def __setstate__(self, state: tuple) -> None:
        """Prepares the problem again."""
        self.problem, self._arguments, self._out = state
        self._core = self._make_core(self.problem)

    def solve(self, sources: Any = None, times: Any = None, *, level_set: Any = None, progress: Any = None) -> Arrival:
        """First arrivals from the sources; see `solve`."""
        given = self._sources(sources, times, level_set)
        with reporting(progress) as callback:
            found = self._core.solve(given._core(self.problem.vertices), callback)
            return with_warnings(unpack(found, self.problem, given))

    def solve_many(self, source_sets: Iterable[Any], *, progress: Any = None) -> list[Arrival]:
        """One Arrival for each set of sources, each on its own; many are solved at once where that is quicker."""
        given = [self._sources(sources, None, None) for sources in source_sets]
        results: list[Arrival] = []

        def take(index: int, packed: tuple) -> None:
            results.append(unpack(packed, self.problem, given[index]))

        self._run_many(given, take, progress)
        return [with_warnings(arrival) for arrival in results]

    def update(
        self,
        arrival: Arrival,
        sources: Any = None,
        times: Any = None,
        *,
        level_set: Any = None,
        changed: Any = None,
        progress: Any = None,
        **metric: Any,
    ) -> Arrival:
        """First arrivals after a change of the sources, of the metric, or of both: what the change cannot reach keeps its
        time, the rest is solved again.

        ``arrival`` is what this solver gave, with the metric it has now; its times must be as they were. Sources are all sources from now on;
        left out, they stay. A metric is given as for `set_metric`, whole, and the solver keeps it; the arrays of the one
        before must not have been changed in place. ``changed`` may name the elements or voxels whose metric differs, as
        ids or as a mask; else the two metrics are compared. ``stats["changed"]`` counts the times that are other ones.

        >>> import isochron, numpy as np
        >>> speed = np.ones((50, 50))
        >>> solver = isochron.Solver(isochron.Grid((50, 50)), speed=speed)
        >>> before = solver.solve([0])
        >>> scar = speed.copy()
        >>> scar[40:45, 40:45] = 0.1
        >>> after = solver.update(before, speed=scar)
        >>> after.stats["changed"] < 150
        True
        """
        self._check_own(arrival, "update")
        no_others(metric, METRIC_ARGUMENTS, "update")
        metric = {name: value for name, value in metric.items() if value is not None}
        problem = None
        if metric:
            self._check_new(metric)
            problem = self.problem.with_metric(**metric)
            _require_metric(problem, "update")
        elif changed is not None:
            raise UsageError("changed names elements with another metric, and there is none; give it too")
        given = None
        if times is not None and sources is None:
            raise UsageError("times are those of sources, and there are none; give the sources too")
        if sources is not None or level_set is not None:
            given = self._sources(sources, times, level_set, problem)
        elif problem is not None and isinstance(arrival.sources, ContourSources):
            raise UsageError("the times of a level set on a grid depend on the speed; give level_set again")
        ids = None if changed is None else self._element_ids(changed)
        now = given if given is not None else arrival.sources
        if problem is not None and problem.mask is not self.problem.mask:
            return self._solve_with_other_mask(arrival, now, metric, progress)
        if isinstance(self._core, DeviceBackend) or (problem is not None and problem.on_device):
            if metric:
                self.set_metric(**metric)
            return self.solve(now, progress=progress)
        mesh = self.problem.mesh
        rows = [None if a is None else mesh.flat(a, "times") if isinstance(mesh, Grid) else a for a in (arrival.times, arrival.source)]
        with reporting(progress) as callback:
            found = self._core.update(
                *rows,
                arrival.stats["source_init"],
                arrival.sources._core(self.problem.vertices),
                None if given is None else given._core(self.problem.vertices),
                None if problem is None else problem.core,
                ids,
                callback,
            )
            self.problem = problem if problem is not None else self.problem
            return with_warnings(unpack(found, self.problem, now))

    def _solve_with_other_mask(self, before: Arrival, sources: Sources, metric: dict[str, Any], progress: Any) -> Arrival:
        """Other voxels conduct: all of it is prepared and solved again."""
        held = self.problem, self._core
        try:
            self.set_metric(**metric)
            arrival = self.solve(sources, progress=progress)
        except BaseException:
            self.problem, self._core = held
            raise
        if isinstance(arrival.times, np.ndarray) and isinstance(before.times, np.ndarray):
            arrival.stats["changed"] = int(np.count_nonzero(arrival.times != before.times))
        note = "everything was solved again: other voxels conduct"
        arrival.stats["notes"].append(note)
        warn(note, SolveWarning)
        return arrival

    def linearize(self, arrival: Arrival) -> Linearization:
        """How the times of a solve change with what they were computed from; see `Linearization`.

        `arrival` must be one of this solver's, from plain or ball sources, of first order. Solve with a small tolerance:
        it is that of the derivatives.
        """
        if isinstance(self._core, DeviceBackend):
            raise UsageError("derivatives are computed on the host; give host arrays")
        self._check_own(arrival, "linearize")
        if isinstance(arrival.sources, ContourSources):
            raise UsageError("derivatives on grids are those of sources at voxels and points, not of a level set; give such sources")
        times = arrival.times
        if isinstance(self.problem.mesh, Grid):
            times = self.problem.mesh.flat(times, "times")
        sources = arrival.sources
        core = self._core.linearize(times, arrival.stats["source_init"], sources._core(self.problem.vertices))
        return Linearization(core, self.problem, arrival)

    def distance_matrix(self, sources: Any, targets: Any = None, *, progress: Any = None) -> np.ndarray:
        """Times from each source on its own (rows) to each target vertex or voxel (columns); targets default to all
        vertices."""
        warn_of_index(sources, self.problem.mesh, "sources")
        given = as_sources(sources, None, None, self.problem.mesh)
        singles = [self._sources(one, None, None) for one in _one_by_one(given)]
        ids = None if targets is None else self._target_ids(targets)
        matrix = np.empty((len(singles), self.problem.vertices if ids is None else len(ids)))

        def take(index: int, packed: tuple) -> None:
            times = on_host(packed[0])
            matrix[index] = times if ids is None else times[ids]

        self._run_many(singles, take, progress)
        return matrix

    def set_speed(self, speed: Any) -> None:
        """Takes another isotropic speed; what was prepared of the mesh stays."""
        if speed is None:
            raise UsageError("speed is None (a solver keeps the metric it has); give a number or an array")
        self.set_metric(speed=speed)

    def set_metric(self, metric: Any = None, **arguments: Any) -> None:
        """Takes another metric: M, or one of the other arguments of `solve` by name (velocity_tensor, fibers, ...)."""
        no_others(arguments, METRIC_ARGUMENTS, "set_metric")
        problem = self.problem.with_metric(metric=metric, **arguments)
        _require_metric(problem, "set_metric")
        if isinstance(self._core, DeviceBackend):
            self._core.set_problem(problem)
        elif problem.on_device or problem.mask is not self.problem.mask:
            self._core = self._make_core(problem)
        else:
            self._core.set_problem(problem.core)
        self.problem = problem

    def _check_own(self, arrival: Any, function: str) -> None:
        if not isinstance(arrival, Arrival):
            raise UsageError(f"{function}() got a {type(arrival).__name__}; give what solve() returned")
        if arrival.problem is not self.problem:
            raise UsageError("the arrival is of another solver or metric; give one that this solver has made")

    def _check_new(self, metric: dict[str, Any]) -> None:
        """A metric that was changed in place cannot be compared with what it was."""
        before = self.problem.arguments
        kept = [name for name, value in metric.items() if name in before and _same_array(before[name], value)]
        if len(kept) == len(metric):
            raise UsageError(f"{kept[0]} is the array that the solver has (it must not change in place); give a changed copy")

    def _element_ids(self, changed: Any) -> np.ndarray:
        ids, mesh = np.asarray(changed), self.problem.mesh
        if ids.dtype.kind == "b":
            ids = mesh.flat(ids, "changed") if isinstance(mesh, Grid) else ids
            if ids.shape != (self.problem.elements,):
                wanted = f"({self.problem.elements},)"
                raise InputError(f"changed has the wrong shape (it is {ids.shape}); give a mask of shape {wanted}, or ids")
            ids = np.flatnonzero(ids)
        if ids.size == 0:
            raise UsageError("changed holds no element; leave it out, and the metrics are compared")
        return ids

    def _sources(self, sources: Any, times: Any, level_set: Any, problem: Problem | None = None) -> Sources:
        """On the mesh, for a metric of the problem; arrays of its own, so that an Arrival knows what it was solved for."""
        warn_of_index(sources, self.problem.mesh, "sources")
        if isinstance(self.problem.mesh, Grid) and isinstance(sources, Sources) and level_set is None:
            if sources.level_set is not None and sources.vertices is None and sources.points is None:
                sources, level_set = None, sources.level_set
        if level_set is None or not isinstance(self.problem.mesh, Grid):
            return as_sources(sources, times, level_set, self.problem.mesh)._copied()
        if sources is not None or times is not None:
            raise UsageError("level_set on a grid is all the sources there are; leave out sources and times")
        return level_set_sources(level_set, problem if problem is not None else self.problem)

    def _target_ids(self, targets: Any) -> np.ndarray:
        warn_of_index(targets, self.problem.mesh, "targets")
        chosen = as_places(targets, "targets", self.problem.mesh).vertices
        if chosen is None:
            raise UsageError("targets are positions (a matrix has a column for each vertex); give ids or a mask")
        outside = chosen[(chosen < 0) | (chosen >= self.problem.vertices)]
        if len(outside):
            known = f"ids count from 0, here up to {self.problem.vertices - 1}"
            raise InputError(f"targets holds an id out of range: {outside[0]} ({known}); correct it")
        return chosen

    def _run_many(self, sets: list[Sources], take: Any, progress: Any) -> None:
        with reporting(progress) as callback:
            self._core.solve_many([one._core(self.problem.vertices) for one in sets], take, callback)

    def __repr__(self) -> str:
        return f"Solver({self.problem.mesh!r})"


def _require_metric(problem: Problem, function: str) -> None:
    if not set(problem.arguments) - {"tensor_order"}:
        raise UsageError(f"{function}() got no metric (a solver keeps the one it has); give metric, speed or fibers")


def _same_array(before: Any, after: Any) -> bool:
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        return before.__array_interface__ == after.__array_interface__
    return before is after and not np.isscalar(after)


#: What `Solver` takes beside the mesh.
SOLVER_ARGUMENTS = frozenset(inspect.signature(Solver).parameters) - {"mesh"}
SOLVE_OPTIONS = SOLVER_ARGUMENTS.difference(METRIC_ARGUMENTS, ("mask", "out"))


def _one_by_one(sources: Sources) -> Iterator[Sources]:
    for kind in ("vertices", "points"):
        values, times = getattr(sources, kind), getattr(sources, "vertex_times" if kind == "vertices" else "point_times")
        for i in range(0 if values is None else len(values)):
            onset = None if times is None else times[i : i + 1]
            one = values[i : i + 1]
            yield Sources(one, onset) if kind == "vertices" else Sources(points=one, point_times=onset)
    if sources.level_set is not None:
        yield Sources(level_set=sources.level_set)


def solve(
    mesh: Any,
    sources: Any = None,
    times: Any = None,
    speed: Any = None,
    metric: Any = None,
    fibers: Any = None,
    velocity: Any = None,
    method: str = "auto",
    backend: str = "auto",
    precision: Any = None,
    verify: bool = False,
    *,
    level_set: Any = None,
    progress: Any = None,
    **options: Any,
) -> Arrival:
    """First-arrival times on a mesh or grid.

    mesh
        ``(points, cells)``, a `Mesh`, a meshio mesh, a PyVista or VTK data set, or a `Grid`. Points are (N, 3) or
        (N, 2), cells (M, 3) for triangles or (M, 4) for tetrahedra.
    sources
        Where the front starts: integers are ids of vertices or voxels (on grids also indices of shape (K, ndim)), floats
        are positions of shape (K, 3), which are not moved to a vertex (one index, too, is written [[3, 4, 5]]); booleans are a mask over the vertices or the
        grid. A `Sources` holds several kinds at once.
    times
        When it starts there: a number, or one for each source (default 0).
    speed
        A number, or one per element or per vertex (averaged over each element's corners; where a mesh has as many
        elements as vertices, they are of elements). On grids an array of the grid's shape.
    metric
        The travel-time metric M: crossing a vector e costs sqrt(e M e). One tensor or one per element, as 3x3 matrices
        or as six components in the order of ``tensor_order`` ("row": xx, xy, xz, yy, yz, zz). On triangles in a plane of
        constant z and on flat grids also as 2x2 matrices.
    velocity_tensor
        The inverse D of M instead (speed squared).
    fibers, velocity
        Directions, one per element or per vertex of a mesh (their sign does not matter), and the velocities along and
        across them: ``(along, across)``, or with ``sheets`` ``(along, sheet, normal)``, or a dict of such by region with
        ``regions``, one per element.
    level_set
        A signed value per vertex or voxel: the front starts on its zero set and runs both ways. On grids it goes with
        speed, and each voxel beside the zero set is a source.
    method, backend, precision
        "auto" or one of the command line's names; precision also as a NumPy type.
    verify
        Checks every time against its neighbours': `Arrival.residual`.
    progress
        A function of the share done, or a bar or class of bars like tqdm.

    Arrays may be in the memory of a GPU, and with ``out="device"`` the times stay there; see `Solver`.

    Other options are those of `Solver`: out, mask, threads, tolerance, source_init, ball_rings, split_obtuse, unordered,
    reorder, weights, labels (False: `Arrival.source` is None, which saves a pass), band_width, and for grids scheme and
    order.

    >>> import isochron
    >>> points = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    >>> arrival = isochron.solve((points, [[0, 1, 2], [0, 2, 3]]), sources=[0], speed=2.0)
    >>> arrival.times
    array([0.        , 0.5       , 0.70710678, 0.5       ])
    """
    no_others(options, SOLVER_ARGUMENTS, "solve")
    solver = Solver(
        mesh,
        speed=speed,
        metric=metric,
        fibers=fibers,
        velocity=velocity,
        method=method,
        backend=backend,
        precision=precision,
        verify=verify,
        **options,
    )
    return solver.solve(sources, times, level_set=level_set, progress=progress)


def solve_many(mesh: Any, source_sets: Iterable[Any], *, progress: Any = None, **options: Any) -> list[Arrival]:
    """An Arrival for each set of sources, each on its own; options are those of `Solver`.

    >>> import isochron
    >>> first, second = isochron.solve_many(isochron.Grid((20, 20)), [[0], [399]])
    >>> float(first.times[19, 0]), float(second.times[19, 19])
    (19.0, 0.0)
    """
    no_others(options, SOLVER_ARGUMENTS, "solve_many")
    return Solver(mesh, **options).solve_many(source_sets, progress=progress)


def distance_matrix(mesh: Any, sources: Any, targets: Any = None, *, progress: Any = None, **options: Any) -> np.ndarray:
    """Times from each source on its own (rows) to each target (columns; default: all vertices).

    >>> import isochron
    >>> isochron.distance_matrix(isochron.Grid((10, 10)), [0, 90], [0, 90])
    array([[0., 9.],
           [9., 0.]])
    """
    no_others(options, SOLVER_ARGUMENTS, "distance_matrix")
    return Solver(mesh, **options).distance_matrix(sources, targets, progress=progress)
