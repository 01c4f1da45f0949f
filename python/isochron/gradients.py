"""How arrival times change with speeds, metrics, onsets and the places of sources."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Iterator, Mapping

import numpy as np

from . import _core
from .errors import InputError, UsageError
from .grid import Grid
from .mesh import on_host, real_array
from .problem import Problem, velocities_of

if TYPE_CHECKING:
    from .arrival import Arrival

#: Rows and columns of the six components of a tensor.
_ROW, _COLUMN = np.triu_indices(3)


def _matrices(components: np.ndarray) -> np.ndarray:
    """Symmetric matrices of their six components."""
    matrices = np.empty(components.shape[:-1] + (3, 3))
    matrices[..., _ROW, _COLUMN] = components
    matrices[..., _COLUMN, _ROW] = components
    return matrices


class Gradients(Mapping):
    """The gradient of a number that depends on times, by the name of what the times were computed from.

    ``metric``
        By M, a symmetric matrix G for each element (of grids with the grid's shape): a change dM adds ``(G * dM).sum()``.
    ``velocity_tensor``
        The same by D, where that or a metric was given.
    ``speed``
        In the shape it was given in: a number, or an array by element, vertex or voxel.
    ``velocity``
        By the velocities (along, sheet, normal) of fibres; with regions a dict of these.
    ``fibers``
        By the components of the fibres, one row an element.
    ``onset``, ``position``
        By the time of each source, and by its position, where all are points: a source at a vertex cannot be moved, and
        with one of these ``position`` raises an error.
    ``level_set``
        Where one is a source, by its value at each vertex.
    ``points``
        On meshes by the coordinates of the points, one row each: elements keep their metric, and sources given as points
        stay where they are.
    """

    def __init__(self, core: _core.Linearization, problem: Problem, found: tuple) -> None:
        self._core, self._problem, self._found = core, problem, found
        given = problem.arguments
        self._names = ["metric", "onset"]
        if "fibers" in given:
            self._names += ["velocity", "fibers"]
        elif "metric" in given or "velocity_tensor" in given:
            self._names.append("velocity_tensor")
        else:
            self._names.append("speed")
        if not np.isnan(found[2]).any():
            self._names.append("position")
        if not isinstance(problem.mesh, Grid):
            self._names.append("points")
        if found[4].size > 0:
            self._names.append("level_set")

    def __getitem__(self, name: str) -> Any:
        metric, onset, position, vertex, level_set = self._found
        if name == "position" and np.isnan(position).any():
            raise UsageError(
                "a source is a vertex, which cannot be moved; give points between vertices as sources"
            )
        if name not in self._names:
            raise KeyError(f"there is no gradient by {name!r} here; there are: {', '.join(self)}")
        if name == "onset":
            return onset
        if name == "level_set":
            return level_set
        if name == "position":
            return position[:, : _dimensions(self._problem)]
        if name == "points":
            return self._core.by_points(metric, vertex)[:, : _dimensions(self._problem)]
        if name == "metric":
            return self._of_elements(_matrices(metric))
        if name == "velocity_tensor":
            return self._of_elements(_matrices(self._core.by_velocity_tensor(metric)))
        if name == "fibers":
            return self._of_elements(self._core.by_fibers(metric))
        if name == "velocity":
            return self._by_velocity(self._core.by_velocity(metric))
        return self._by_speed(self._core.by_speed(metric))

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"Gradients({', '.join(self)})"

    def _of_elements(self, rows: np.ndarray) -> np.ndarray:
        return self._problem.mesh.shaped(rows) if isinstance(self._problem.mesh, Grid) else rows

    def _by_velocity(self, rows: np.ndarray) -> Any:
        velocity = self._problem.arguments["velocity"]
        if not isinstance(velocity, dict):
            return _as_given(rows[0], velocity)
        return {name: _as_given(row, velocity[name]) for name, row in zip(sorted(velocity), rows)}

    def _by_speed(self, by_element: np.ndarray) -> Any:
        speed = np.asarray(on_host(self._problem.arguments.get("speed", 1.0)))
        if speed.ndim == 0:
            return float(by_element.sum())
        if isinstance(self._problem.mesh, Grid):
            return self._problem.mesh.shaped(by_element) if speed.ndim > 1 else by_element
        return _to_vertices(self._problem, by_element) if _by_vertex(self._problem, speed) else by_element


class DerivativeCheck:
    """How well derivatives pass the tests that need no second solve; see `Linearization.verify`.

    transpose
        |v·Jd − Jᵀv·d| for random d and v, as a share of Σ |v Jd|.
    scaling
        The largest misfit of a time and what `jvp` gives where slownesses and onsets change in proportion, as a share of
        the largest time.
    fixed_point
        The largest misfit of a time and what its row gives from its neighbours' times, as the same share.
    max_transpose, max_misfit
        What counts as passed: of ``transpose``, and of the other two.
    """

    __slots__ = ("transpose", "scaling", "fixed_point", "max_transpose", "max_misfit")

    def __init__(
        self, transpose: float, scaling: float, fixed_point: float, max_transpose: float, max_misfit: float
    ) -> None:
        self.transpose = transpose
        self.scaling = scaling
        self.fixed_point = fixed_point
        self.max_transpose = max_transpose
        self.max_misfit = max_misfit

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name):.3g}" for name in self.__slots__)
        return f"DerivativeCheck({values}; {'passed' if self.passed else 'FAILED'})"

    @property
    def passed(self) -> bool:
        """Whether all three are within their limits."""
        misfits = (self.scaling, self.fixed_point)
        return self.transpose <= self.max_transpose and all(misfit <= self.max_misfit for misfit in misfits)


def _scipy(name: str) -> Any:
    try:
        return importlib.import_module(f"scipy.{name}")
    except ImportError:
        raise UsageError("this needs SciPy, which is not installed; install it (scipy, or python3-scipy)") from None


def _dimensions(problem: Problem) -> int:
    """Coordinates of a position."""
    return problem.mesh.ndim if isinstance(problem.mesh, Grid) else problem.mesh.points.shape[-1]


def _as_given(row: np.ndarray, velocity: Any) -> np.ndarray:
    """Velocities that were left out equal the number before: their share belongs to that."""
    count = len(np.atleast_1d(velocity))
    return np.append(row[: count - 1], row[count - 1 :].sum())


def _by_vertex(problem: Problem, values: np.ndarray) -> bool:
    return len(values) == problem.vertices and problem.vertices != problem.elements


def _to_vertices(problem: Problem, by_element: np.ndarray) -> np.ndarray:
    """The transpose of the mean over each element's corners."""
    cells = on_host(problem.mesh.cells)
    share = np.repeat(by_element / cells.shape[1], cells.shape[1])
    return np.bincount(cells.ravel(), weights=share, minlength=problem.vertices)


class Linearization:
    """The derivative of a solve's times: products with it and its transpose, and some of its rows.

    It is that of the discrete solution: exact, up to the solve's tolerance, for what the solver computes, with the choice
    of where the front comes from as it was. Where the front arrives from two sides at once it is that of one of them.

    >>> import isochron, numpy as np
    >>> solver = isochron.Solver(isochron.Grid((30, 30)), speed=np.full((30, 30), 2.0), tolerance=1e-12)
    >>> arrival = solver.solve([0])
    >>> linear = solver.linearize(arrival)
    >>> target = np.zeros((30, 30))
    >>> target[20, 20] = 1.0  # the time at one voxel, say
    >>> by_speed = linear.vjp(target)["speed"]
    >>> bool(np.isclose((by_speed * 2.0).sum(), -arrival.times[20, 20], rtol=1e-5))  # times go with 1/speed
    True
    """

    def __init__(self, core: _core.Linearization, problem: Problem, arrival: Arrival) -> None:
        self._core, self._problem = core, problem
        self._reached, self._times = arrival.reached, arrival.times

    @property
    def mesh(self) -> Any:
        """What was solved on."""
        return self._problem.mesh

    def vjp(self, cotangent: Any) -> Gradients:
        """The gradient of ``(cotangent * times).sum()``: one value for each time, which does not count where nothing
        arrived."""
        given = real_array(cotangent, "cotangent")
        if given.ndim > 0 and given.shape != self._reached.shape:
            raise InputError(f"cotangent has the wrong shape (it is {given.shape}); give an array of shape {self._reached.shape}")
        given = np.broadcast_to(given, self._reached.shape)
        return Gradients(self._core, self._problem, self._core.vjp(self._flat(np.where(self._reached, given, 0.0))))

    def jvp(self, **direction: Any) -> np.ndarray:
        """The change of the times with a change of some of speed, metric, velocity_tensor, velocity, onset, position,
        points and level_set, by name, in the shapes that `Gradients` has; 0 where nothing arrived."""
        onset, position = direction.pop("onset", None), direction.pop("position", None)
        points, level_set = direction.pop("points", None), direction.pop("level_set", None)
        metric = None
        for name, change in direction.items():
            part = self._metric_change(name, change)
            metric = part if metric is None else metric + part
        if position is not None:
            position = real_array(position, "position")
            wanted = (self._core.sources, _dimensions(self._problem))
            if position.shape != wanted:
                raise InputError(f"position has the wrong shape (it is {position.shape}); give an array of shape {wanted}")
            position = np.pad(position, ((0, 0), (0, 3 - wanted[1])))
        if points is not None:
            points = real_array(points, "points")
            wanted = (self._problem.vertices, _dimensions(self._problem))
            if points.shape != wanted:
                raise InputError(f"points has the wrong shape (it is {points.shape}); give an array of shape {wanted}")
            points = np.pad(points, ((0, 0), (0, 3 - wanted[1])))
        onset = None if onset is None else real_array(onset, "onset")
        level_set = None if level_set is None else real_array(level_set, "level_set")
        change = self._core.jvp(metric, onset, position, points, level_set)
        return self._problem.mesh.shaped(change) if isinstance(self._problem.mesh, Grid) else change

    def gauss_newton(self, weights: Any = 1.0, **direction: Any) -> Gradients:
        """The product of the Gauss-Newton matrix of ``0.5 * (weights * misfit**2).sum()`` with a direction."""
        weights = real_array(weights, "weights")
        if weights.ndim > 0 and weights.shape != self._reached.shape:
            raise InputError(f"weights has the wrong shape (it is {weights.shape}); give an array of shape {self._reached.shape}")
        return self.vjp(weights * self.jvp(**direction))

    def verify(self, seed: int = 1) -> DerivativeCheck:
        """Checks that `vjp` is the transpose of `jvp`, that times scale as slownesses and onsets do together, and that
        the rows give the times again. Misfits may be ten times the tolerance of the solve, and at least 1e-12; 1e-5 on
        grids whose metric varies, as their weights are in single precision; 1e-4 in single precision.

        >>> import isochron
        >>> solver = isochron.Solver(isochron.generate.irregular_square(n=20), tolerance=1e-13)
        >>> solver.linearize(solver.solve([0])).verify().passed
        True
        """
        if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
            raise UsageError(f"seed is {seed!r}; give a whole number from 0 on")
        return DerivativeCheck(*self._core.verify(self._flat(on_host(self._times)), int(seed)))

    def jacobian(self, vertices: Any, of: str = "speed") -> Any:
        """The rows of some times as a ``scipy.sparse.csr_matrix``: by the ``speed`` of each element, or by its ``metric``,
        with six columns an element (xx, xy, xz, yy, yz, zz; xy stands for yx too). Vertices, and columns on grids, are in
        the order of ids."""
        matrix = _scipy("sparse").csr_matrix
        offsets, elements, values = self._core.metric_jacobian(np.asarray(vertices))
        if of == "metric":
            columns = (6 * elements[:, None] + np.arange(6)).ravel()
            data = (values * np.where(_ROW == _COLUMN, 1.0, 2.0)).ravel()
            return matrix((data, columns, 6 * offsets), shape=(len(offsets) - 1, 6 * self._core.elements))
        if of != "speed":
            raise UsageError(f"unknown of {of!r} (what the rows are by); choose one of: speed, metric")
        if "speed" not in self._problem.arguments and self._problem.arguments:
            raise UsageError("the metric was not given as a speed; ask for of='metric'")
        ones = self._core.from_speed(np.ones(self._core.elements))[elements]
        data = (values * ones)[:, [0, 3, 5]].sum(axis=1)
        return matrix((data, elements, offsets), shape=(len(offsets) - 1, self._core.elements))

    def operator(self, of: str = "speed") -> Any:
        """A ``scipy.sparse.linalg.LinearOperator`` from changes of one input, as a vector, to those of all times. On
        grids both are in the order of ids, as in `jacobian`."""
        gradients = self.vjp(0.0)
        if of not in gradients or of == "fibers":
            known = ", ".join(name for name in gradients if name != "fibers")
            raise UsageError(f"unknown of {of!r} (what the times change with); choose one of: {known}")
        gradient = gradients[of]
        if isinstance(gradient, dict):
            raise UsageError(f"{of} was given by region, which is not a vector; use jvp and vjp")
        shape = np.shape(gradient)
        return _scipy("sparse.linalg").LinearOperator(
            (self._reached.size, int(np.prod(shape))),
            matvec=lambda change: self._as_vector(self.jvp(**{of: self._from_vector(change, shape)})),
            rmatvec=lambda cotangent: self._as_vector(self.vjp(self._from_vector(cotangent, self._reached.shape))[of]),
            dtype=np.float64,
        )

    def _as_vector(self, values: Any) -> np.ndarray:
        values = np.asarray(values)
        grid = self._problem.mesh
        if isinstance(grid, Grid) and values.shape[: grid.ndim] == grid.shape:
            values = grid.flat(values, "values", values.ndim - grid.ndim)
        return values.ravel()

    def _from_vector(self, vector: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        grid = self._problem.mesh
        if isinstance(grid, Grid) and shape[: grid.ndim] == grid.shape:
            return grid.shaped(np.reshape(vector, (grid.size,) + shape[grid.ndim :]))
        return np.reshape(vector, shape)

    def _flat(self, values: np.ndarray) -> np.ndarray:
        return self._problem.mesh.flat(values, "cotangent") if isinstance(self._problem.mesh, Grid) else values

    def _metric_change(self, name: str, change: Any) -> np.ndarray:
        """The change of M, six components an element."""
        given = self._problem.arguments
        elements = self._core.elements
        if name in ("metric", "velocity_tensor"):
            matrices = real_array(change, name)
            if matrices.shape[-2:] == (2, 2):
                matrices = np.pad(matrices, [(0, 0)] * (matrices.ndim - 2) + [(0, 1), (0, 1)])
            trailing = 2 if matrices.shape[-2:] == (3, 3) else 1
            if trailing == 1 and given.get("tensor_order", "row") != "row":
                raise InputError(f"{name} has six components, whose order is 'row' here; give matrices of shape (3, 3)")
            if isinstance(self._problem.mesh, Grid) and matrices.ndim > trailing:
                matrices = self._problem.mesh.flat(matrices, name, trailing)
            if trailing == 2:
                symmetric = 0.5 * (matrices + np.swapaxes(matrices, -1, -2))
                matrices = symmetric[..., _ROW, _COLUMN]
            if matrices.shape not in ((6,), (elements, 6)):
                raise InputError(f"{name} has the wrong shape (it is {np.shape(change)}); give one tensor, or one per element")
            matrices = np.broadcast_to(matrices, (elements, 6))
            return matrices if name == "metric" else self._core.by_velocity_tensor(matrices)
        if name == "speed" and not any(kind in given for kind in ("metric", "velocity_tensor", "fibers")):
            speed = real_array(change, "speed")
            if isinstance(self._problem.mesh, Grid) and speed.ndim > 0:
                speed = self._problem.mesh.flat(speed, "speed")
            elif speed.ndim > 0 and _by_vertex(self._problem, speed):
                speed = speed[on_host(self._problem.mesh.cells)].mean(axis=1)
            if speed.shape not in ((), (elements,)):
                raise InputError(f"speed has the wrong shape (it is {np.shape(change)}); give it in the shape of the speed")
            return self._core.from_speed(np.ascontiguousarray(np.broadcast_to(speed, (elements,))))
        if name == "velocity" and "fibers" in given:
            velocity = given["velocity"]
            names = sorted(velocity) if isinstance(velocity, dict) else [None]
            rows = []
            if isinstance(velocity, dict) and not (isinstance(change, dict) and set(change) == set(velocity)):
                raise InputError(f"velocity was given by region; give a dict with a change for each of {names}")
            for region in names:
                rows.append(velocities_of(change if region is None else change[region]))
            return self._core.from_velocity(np.array(rows))
        known = ", ".join(sorted(set(self.vjp(0.0)) - {"fibers"}))
        raise InputError(f"{name} is not an input that can be changed here; give a change of one of: {known}")

    def __repr__(self) -> str:
        return f"Linearization({self._problem.mesh!r}, {self._core.sources} sources)"
