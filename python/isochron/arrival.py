"""What a solve gives back."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .arguments import number
from .draw import plot, thumbnail
from .errors import InputError, SolveWarning, warn
from .grid import Grid
from .mesh import Mesh, in_space, on_host, real_array
from .problem import Problem
from .sources import Sources


class Arrival:
    """First-arrival times and how they came about.

    ``times`` has a value per vertex, or on grids the grid's shape; ``inf`` where nothing arrived. ``source`` is the index
    of the source that reached each vertex first, -1 where none did; None with ``labels=False``. ``stats`` says what was
    done, with the keys of the command's ``--json``, and in ``"converted"`` which arrays could not be used as they came.
    ``upwind`` is None, or with ``weights=True`` the vertices, (N, 3), and weights, (N, 3), that each time came from; where
    there are fewer than three, or none, vertices are -1. Solved with ``out="device"``, times and source are a `DeviceArray`.
    """

    __slots__ = ("times", "source", "upwind", "stats", "problem", "sources", "__weakref__")

    def __init__(
        self,
        times: np.ndarray,
        source: np.ndarray | None,
        upwind: tuple[np.ndarray, np.ndarray] | None,
        stats: dict[str, Any],
        problem: Problem,
        sources: Sources,
    ) -> None:
        self.times = times
        self.source = source
        self.upwind = upwind
        self.stats = stats
        self.problem = problem
        self.sources = sources

    @property
    def mesh(self) -> Mesh | Grid:
        """What was solved on."""
        return self.problem.mesh

    @property
    def reached(self) -> np.ndarray:
        """Where the front arrived."""
        return np.isfinite(on_host(self.times))

    @property
    def converged(self) -> bool:
        """False where the solve ended before the times settled, or with ``verify`` where they do not fit."""
        return self.stats["converged"]

    @property
    def residual(self) -> float | None:
        """With ``verify``: the largest misfit of a time to its neighbours', in travel times of an edge."""
        return self.stats["residual"]

    def at(self, points: Any, *, tolerance: float | None = None) -> Any:
        """Times at positions of shape (..., 3), on flat meshes and grids also (..., 2), linear in the element or between
        the voxels around each; a number for one position. NaN outside the mesh or the mask, and inf beside what nothing
        reached. Outside begins ``tolerance`` away from it (default: a millionth of the diagonal).

        >>> import isochron
        >>> arrival = isochron.solve(isochron.Grid((9, 9)), sources=[[0.0, 0.0]])
        >>> arrival.at([[4.5, 0.0], [99.0, 0.0]])
        array([4.5, nan])
        """
        mesh = self.mesh
        places = real_array(points, "points")
        flat = mesh.ndim == 2 if isinstance(mesh, Grid) else mesh.points.shape[-1] == 2
        width = places.shape[-1] if places.ndim else 0
        if width != 3 and not (width == 2 and flat):
            wanted = "(K, 2)" if flat else "(K, 3)"
            raise InputError(f"points has the wrong shape (it is {places.shape}); give positions of shape {wanted}")
        if tolerance is None:
            ends = mesh.position([np.zeros(mesh.ndim), mesh.shape]) if isinstance(mesh, Grid) else on_host(mesh.points)
            tolerance = 1e-6 * float(np.linalg.norm(np.ptp(ends, axis=0)))
        times = on_host(self.times)
        rows = mesh.flat(times, "times") if isinstance(mesh, Grid) else times
        found = _core.probe_times(
            self.problem.shape, rows, in_space(places.reshape(-1, width)), number(tolerance, "tolerance")
        )
        return found.reshape(places.shape[:-1])[()]

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draws the times with matplotlib and returns the axes; see `isochron.draw.plot`."""
        return plot(self, ax=ax, **options)

    def _repr_png_(self) -> bytes | None:
        return thumbnail(self) if isinstance(self.times, np.ndarray) else None

    def __getstate__(self) -> tuple:
        return tuple(getattr(self, name) for name in self.__slots__[:-1])

    def __setstate__(self, state: tuple) -> None:
        for name, value in zip(self.__slots__, state):
            setattr(self, name, value)

    def __repr__(self) -> str:
        stats = self.stats
        text = f"Arrival({stats['reached']} of {stats['vertices']} reached"
        if stats["reached"]:
            text += f", last at {stats['max_time']:.6g}"
        text += f"; {stats['method']}, {stats['backend']}, {stats['precision']} precision"
        if self.residual is not None:
            text += f", residual {self.residual:.2g}"
        return text + (")" if self.converged else ", NOT CONVERGED)")


def unpack(packed: tuple, problem: Problem, sources: Sources) -> Arrival:
    """The Arrival of what the library gave."""
    times, source, vertices, weights, stats = packed
    stats["converted"] = problem.converted
    if isinstance(problem.mesh, Grid):
        times, source = problem.mesh.shaped(times), None if source is None else problem.mesh.shaped(source)
    return Arrival(times, source, None if vertices is None else (vertices, weights), stats, problem, sources)


def with_warnings(arrival: Arrival) -> Arrival:
    """Warns of what the library noted, and gives the Arrival back."""
    for note in arrival.stats["notes"]:
        warn(note, SolveWarning)
    if not arrival.converged:
        warn("the times did not settle; see Arrival.residual and the options", SolveWarning)
    return arrival
