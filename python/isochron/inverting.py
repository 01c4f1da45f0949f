"""Speeds, velocities and sources from measured arrival times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from . import _core
from .arguments import no_others, number
from .errors import InputError, SolveWarning, UsageError, warn
from .grid import Grid
from .mesh import Mesh, in_space, on_host, real_array
from .problem import METRIC_ARGUMENTS, Problem, velocity_table
from .progress import reporting
from .solving import SOLVE_OPTIONS, Solver, solve_options
from .sources import Sources, as_sources, warn_of_index

#: Options of solves that say nothing here, or whose times have no derivatives.
_NOT_HERE = ("verify", "weights", "labels", "scheme", "order", "unordered")


class InversionState(NamedTuple):
    """All unknowns as numbers, to go on from with ``invert(..., start=state)``, for the same problem and options."""

    smoothing_weight: float
    damping: float
    problem: float
    values: np.ndarray


@dataclass(frozen=True)
class InversionStep:
    """Where an inversion stands: after the step ``iteration``, of which 0 is the start.

    ``misfit`` is the root of the mean of ``weights * (computed - measured)**2``, ``objective`` what is made small, ``step``
    the share of the Gauss-Newton step that was taken, ``products`` how many products with the Gauss-Newton matrix it
    took. ``state``, to go on from, is what only a callback gets; else None.
    """

    iteration: int
    misfit: float
    objective: float
    step: float
    products: int
    state: InversionState | None = field(default=None, repr=False, compare=False)


class Inversion:
    """What `invert` found.

    ``speed``
        Of each element or voxel, with the unknown "speed": of grids in the grid's shape, or by voxel id where the speed
        was given so. With velocities by region and no fibers it is theirs. Else None.
    ``scale``
        With "tensor-scale" the factor of the velocities of each element or voxel, else None.
    ``velocity``
        With "region-velocities" in the form it was given in, a dict by region or one row, else None. With fibers a row
        has two numbers at least, with sheets three, since they are found apart.
    ``sources``, ``positions``, ``onsets``
        Of each shot a `Sources`, the positions of its sources (vertices first), (K, ndim), and their onsets, (K,).
    ``times``
        Those computed in the end, in the shape of the measured ones; NaN where there is none.
    ``misfit``
        The root of the mean of ``weights * (computed - measured)**2`` in the end.
    ``steps``
        What each step came to, from the start on: ``iteration``, ``misfit``, ``objective``, ``step``, ``products``.
    ``end``
        Why it ended: "noise-level", "settled" or "max-iterations".
    ``state``
        To go on from, as ``start`` of another `invert`; the whole object does, too.
    """

    def __init__(self, problem: Problem, found: dict[str, Any], shape: tuple[int, ...], unknowns: list[str]) -> None:
        self.problem = problem
        self.unknown = unknowns
        self.speed: np.ndarray | None = None
        self.scale: np.ndarray | None = None
        self.velocity: Any = None
        self.sources = [Sources(*(a if len(a) else None for a in arrays)) for arrays in found["sources"]]
        self.positions = [_positions(problem.mesh, vertices, points) for vertices, _, points, _ in found["sources"]]
        self.onsets = [np.concatenate([arrays[1], arrays[3]]) for arrays in found["sources"]]
        self.times: np.ndarray = found["times"].reshape(shape)
        self.steps = [InversionStep(*step) for step in found["steps"]]
        self.end: str = found["end"]
        self.state = InversionState(*found["state"])
        self.source_init: str = found["source_init"]
        self._metric = problem.arguments

    @property
    def mesh(self) -> Mesh | Grid:
        """What it was found on."""
        return self.problem.mesh

    @property
    def misfit(self) -> float:
        """That of the last step."""
        return self.steps[-1].misfit

    def solver(self, **options: Any) -> Solver:
        """A `Solver` with the metric that was found; its options are those of `Solver`, by default with the ``source_init``
        of the inversion."""
        options.setdefault("source_init", self.source_init)
        return Solver(self.mesh, mask=self.problem.mask, **self._metric, **options)

    def __repr__(self) -> str:
        times = int(np.isfinite(self.times).sum())
        shots = len(self.sources)
        text = f"Inversion({', '.join(self.unknown)} from {times} times of {shots} shot{'' if shots == 1 else 's'}"
        steps = len(self.steps) - 1
        return f"{text}; misfit {self.misfit:.6g} after {steps} step{'' if steps == 1 else 's'}: {self.end})"


def invert(
    mesh: Any,
    receivers: Any,
    times: Any,
    sources: Any,
    *,
    unknown: str | Sequence[str] = "speed",
    weights: Any = None,
    speed: Any = None,
    metric: Any = None,
    velocity_tensor: Any = None,
    fibers: Any = None,
    sheets: Any = None,
    velocity: Any = None,
    regions: Any = None,
    tensor_order: str | None = None,
    mask: Any = None,
    smoothing: float = 0.01,
    smoothing_kind: str = "gradient",
    min_velocity: float | None = None,
    max_velocity: float | None = None,
    noise: float = 0.0,
    max_iterations: int = 30,
    min_decrease: float = 5e-3,
    receiver_tolerance: float | None = None,
    start: Inversion | InversionState | None = None,
    callback: Callable[[InversionStep], Any] | None = None,
    progress: Any = None,
    tolerance: float | None = None,
    source_init: str | None = None,
    threads: int = 0,
    **options: Any,
) -> Inversion:
    """Speeds, velocities, onsets and positions of sources that fit measured arrival times best.

    It makes the weighted squares of the differences and the smoothing small, by Gauss-Newton steps with exact derivatives
    of the computed times. A `SolveWarning` tells when ``max_iterations`` ended it.

    mesh, speed, metric, velocity_tensor, fibers, sheets, velocity, regions, tensor_order, mask
        As `solve` takes them: where to look, and the start. A speed by vertex starts as its mean over each element's
        corners; what is found is by element.
    receivers
        Positions, (n, 3) or in the plane (n, 2), in or on the mesh, or in the grid; at most ``receiver_tolerance`` away
        (default: a hundredth of the diagonal).
    times
        What was measured, (shots, n), or (n,) for one shot; NaN where there is none.
    sources
        Of each shot what `solve` takes as sources, or a `Sources`, which may have onsets; for times of shape (n,) those of
        the one shot. Unknown ones start there.
    unknown
        One or several of: "speed" of each element or voxel; "tensor-scale", one factor for all velocities of each;
        "region-velocities", those of ``velocity``, which here needs no fibers; "onsets" and "source-positions" of all
        sources. The first three exclude each other.
    weights
        Of the squared differences, in the shape of the times (default 1); 0 only computes a time.
    smoothing, smoothing_kind
        What the smoothness of speeds or factors weighs, in no unit, and what it is: "gradient", "curvature" or
        "total-variation", which keeps jumps.
    min_velocity, max_velocity
        Bounds of speeds, velocities or factors.
    noise
        Standard deviation of the times: a misfit of that much ends it.
    min_decrease
        A step that lowers the objective by less than this share of it ends it.
    start
        An earlier `Inversion` for the same problem and options, or its ``state``, to go on from.
    callback
        Called with the start and then with each step, as in `Inversion.steps`, beside ``state``; its exceptions end it.
    progress
        As in `solve`.
    tolerance, source_init, threads
        Of the solves (tolerance: 1e-9), and so are other options of `Solver`: backend, precision, ball_rings, ...
        ``source_init`` is "plain" where speeds, factors or velocities are unknown, since the extent of balls depends on
        them and times jump with it; else "ball".

    >>> import isochron, numpy as np
    >>> grid = isochron.Grid((21, 21))
    >>> true = np.where(np.arange(21) < 10, 2.0, 3.0) * np.ones((21, 1))  # two layers
    >>> shots = [[[0.0, float(y)]] for y in range(0, 21, 4)]
    >>> receivers = np.column_stack([np.full(21, 20.0), np.arange(21.0)])
    >>> times = [isochron.solve(grid, shot, speed=true).at(receivers) for shot in shots]
    >>> found = isochron.invert(grid, receivers, times, shots, speed=2.5, noise=0.01)
    >>> found.end, found.speed.mean(axis=0)[[4, 16]].round(1)
    ('noise-level', array([2., 3.]))
    """
    given = locals()
    no_others(options, SOLVE_OPTIONS.difference(_NOT_HERE), "invert")
    unknowns = _names(unknown)
    solve = solve_options(tolerance=tolerance, threads=threads, **options)
    problem, core, rows = _start(mesh, mask, {name: given[name] for name in METRIC_ARGUMENTS}, unknowns)
    places = _receivers(receivers, problem.mesh)
    measured = real_array(times, "times")
    if measured.ndim not in (1, 2) or measured.shape[-1] != len(places) or not measured.size:
        wanted = f"({len(places)},) or (shots, {len(places)})"
        raise InputError(f"times has the wrong shape (it is {measured.shape}); give an array of shape {wanted}")
    shape = measured.shape
    if weights is not None:
        weights = real_array(weights, "weights")
        if weights.shape != shape:
            raise InputError(f"weights has the wrong shape (it is {weights.shape}); give an array of shape {shape}")
        weights = weights.reshape(-1, len(places))
    shots = [one._core(problem.vertices) for one in _shots(sources, shape, problem.mesh)]
    if callback is not None and not callable(callback):
        raise UsageError(f"callback is {callback!r}; give a function of a step")
    how = {
        "smoothing": smoothing,
        "smoothing_kind": smoothing_kind,
        "min_velocity": min_velocity,
        "max_velocity": max_velocity,
        "noise": noise,
        "max_iterations": max_iterations,
        "min_decrease": min_decrease,
        "source_init": source_init,
        "receiver_tolerance": _tolerance(receiver_tolerance, problem.mesh),
    }

    def tell(step: tuple, state: tuple) -> None:
        callback(InversionStep(*step, InversionState(*state)))

    with reporting(progress) as report:
        found = _core.invert(
            core,
            in_space(places),
            shots,
            measured.reshape(-1, len(places)),
            weights,
            unknowns,
            how,
            solve,
            _state(start),
            None if callback is None else tell,
            report,
        )
    result = Inversion(problem, found, shape, unknowns)
    _take_metric(result, found, velocity, rows)
    if result.end == "max-iterations":
        text = f"the inversion did not settle in {max_iterations} steps; raise max_iterations, or go on with start=result"
        warn(text, SolveWarning)
    return result


def _names(unknown: Any) -> list[str]:
    names = [unknown] if isinstance(unknown, str) else unknown
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"unknown is {unknown!r}; give one name or a list of them, like 'speed' or ['onsets']")
    return list(names)


def _start(
    mesh: Any, mask: Any, arguments: dict[str, Any], unknowns: list[str]
) -> tuple[Problem, _core.Problem, np.ndarray | None]:
    """The start, for us and for the library; for velocities without fibers, which are speeds, also the row of velocities
    of each element."""
    velocity = arguments["velocity"]
    others = [name for name, value in arguments.items() if value is not None and name not in ("velocity", "regions")]
    if velocity is None or others or "region-velocities" not in unknowns:
        problem = Problem(mesh, mask, **arguments)
        return problem, problem.core, None
    rows, table = velocity_table(velocity, arguments["regions"])
    if any(np.size(one) > 1 for one in (velocity.values() if isinstance(velocity, dict) else [velocity])):
        raise UsageError("velocity has several numbers (along fibers and across them), but there are no fibers; give them")
    if not ((table >= 0) & np.isfinite(table)).all():
        raise InputError(f"velocity is {velocity!r} (each must be positive, or 0 where nothing runs); give others")
    problem = Problem(mesh, mask)
    rows = np.zeros(problem.elements, dtype=np.uint16) if rows is None else problem._flat(rows, "regions")
    if rows.shape != (problem.elements,):
        raise InputError(f"regions has the wrong shape (it is {rows.shape}); give an array of shape ({problem.elements},)")
    speed = table[rows, 0]
    if isinstance(problem.mesh, Grid) and np.ndim(arguments["regions"]) != 1:
        speed = problem.mesh.shaped(speed)
    problem = Problem(problem.mesh, mask, speed=speed)
    no_fibers = np.zeros((problem.elements, 3), dtype=np.float32)
    return problem, _core.problem_with_fibers(problem.shape, no_fibers, None, table, rows), rows


def _take_metric(result: Inversion, found: dict[str, Any], velocity: Any, rows: np.ndarray | None) -> None:
    """What is unknown of the metric; `rows` are those of `_start`."""
    problem = result.problem
    if "speed" in result.unknown:
        result.speed = _shaped(found["speed"], problem)
        result._metric = {"speed": result.speed}
    elif "tensor-scale" in result.unknown:
        result.scale = _shaped(found["scale"], problem)
        result._metric = {"metric": found["metric"]}
    elif rows is not None:
        speeds = found["velocity"][:, 1]  # where there is no fibre it is that across
        result.velocity = _as_given(velocity, speeds[:, None], 1)
        result.speed = _shaped(speeds[rows], problem)
        result._metric = {"speed": result.speed}
    elif "region-velocities" in result.unknown:
        result.velocity = _as_given(velocity, found["velocity"], 3 if "sheets" in problem.arguments else 2)
        result._metric = {**problem.arguments, "velocity": result.velocity}


def _as_given(velocity: Any, rows: np.ndarray, least: int) -> Any:
    """Velocities in the form in which others were given, with so many numbers at least."""
    if isinstance(velocity, dict):
        return {name: _as_given(velocity[name], row[None], least) for name, row in zip(sorted(velocity), rows)}
    numbers = rows[0, : max(np.size(velocity), least)].tolist()
    return numbers[0] if len(numbers) == 1 and np.ndim(velocity) == 0 else tuple(numbers)


def _shaped(values: np.ndarray, problem: Problem) -> np.ndarray:
    """By element; of grids in their shape, unless the speed was given by voxel id."""
    mesh = problem.mesh
    by_id = np.ndim(on_host(problem.arguments.get("speed", 1.0))) == 1
    return mesh.shaped(values) if isinstance(mesh, Grid) and not by_id else values


def _receivers(receivers: Any, mesh: Mesh | Grid) -> np.ndarray:
    """Positions, in the plane of two coordinates or three."""
    places = np.atleast_2d(real_array(receivers, "receivers"))
    flat = _dimensions(mesh) == 2
    if places.ndim != 2 or not len(places) or not (places.shape[1] == 3 or (places.shape[1] == 2 and flat)):
        wanted = "(n, 2)" if flat else "(n, 3)"
        raise InputError(f"receivers has the wrong shape (it is {np.shape(receivers)}); give positions of shape {wanted}")
    finite = np.isfinite(places).all(axis=1)
    if not finite.all():
        raise InputError(f"receivers is not finite in row {int(np.argmin(finite))}; leave it out")
    return places


def _shots(sources: Any, shape: tuple[int, ...], mesh: Mesh | Grid) -> list[Sources]:
    """The sources of each shot."""
    if len(shape) == 1:
        several, names = [sources], ["sources"]
    else:
        try:
            several = None if isinstance(sources, (Sources, str, bytes)) else list(sources)
        except TypeError:
            several = None
        if several is None or len(several) != shape[0]:
            found = repr(sources) if several is None else f"of {len(several)} shots"
            raise InputError(f"sources is {found}, times of {shape[0]} shots; give the sources of each shot in a list")
        names = [f"sources[{k}]" for k in range(shape[0])]
    result = []
    for one, name in zip(several, names):
        warn_of_index(one, mesh, name)
        result.append(as_sources(one, None, None, mesh, name))
        if result[-1].level_set is not None:
            raise UsageError(f"{name} has a level set, which cannot be the source of an inversion; give points or vertices")
    return result


def _dimensions(mesh: Mesh | Grid) -> int:
    """Coordinates of a position."""
    return mesh.ndim if isinstance(mesh, Grid) else mesh.points.shape[-1]


def _tolerance(given: Any, mesh: Mesh | Grid) -> float:
    if given is not None:
        return number(given, "receiver_tolerance")
    ends = mesh.position([np.zeros(mesh.ndim), mesh.shape]) if isinstance(mesh, Grid) else on_host(mesh.points)
    return 0.01 * float(np.linalg.norm(np.ptp(ends, axis=0)))


def _state(start: Any) -> tuple[float, float, float, np.ndarray] | None:
    state = start.state if isinstance(start, Inversion) else start
    if state is None:
        return None
    if not isinstance(state, InversionState):
        raise UsageError(f"start is a {type(start).__name__}; give what invert() returned, or its state")
    return float(state.smoothing_weight), float(state.damping), float(state.problem), state.values


def _positions(mesh: Mesh | Grid, vertices: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Of vertices, then of points."""
    if isinstance(mesh, Grid):
        of_vertices = mesh.position(np.stack(np.unravel_index(vertices, mesh.shape, order=mesh.order), axis=-1))
    else:
        of_vertices = np.asarray(on_host(mesh.points), dtype=np.float64)[vertices]
    return np.vstack([of_vertices, points[:, : _dimensions(mesh)]])
