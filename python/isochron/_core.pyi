"""The compiled part of isochron. A test compares this file with the module."""

from typing import Any, Callable, Sequence

import numpy as np

_Progress = Callable[[float], Any] | None

__version__: str

def hardware_threads() -> int: ...

class Shape:
    @property
    def vertices(self) -> int: ...
    @property
    def elements(self) -> int: ...
    @property
    def is_grid(self) -> bool: ...
    @property
    def converted(self) -> list[str]: ...

def mesh_shape(points: np.ndarray, cells: np.ndarray) -> Shape: ...
def grid_shape(
    shape: Sequence[int],
    origin: Sequence[float],
    axes: Sequence[Sequence[float]],
    mask: np.ndarray | None = None,
    dimensions: int = 3,
    order: str = "F",
) -> Shape: ...

class Problem:
    @property
    def converted(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...

def problem_with_speed(shape: Shape, speed: np.ndarray) -> Problem: ...
def problem_with_tensors(shape: Shape, tensors: np.ndarray, order: str, inverse: bool) -> Problem: ...
def problem_with_fibers(
    shape: Shape, fibers: np.ndarray, sheets: np.ndarray | None, velocities: np.ndarray, regions: np.ndarray | None
) -> Problem: ...

class _Options: ...

class Options(_Options):
    def __init__(self, **options: Any) -> None: ...

class Sources:
    def __init__(
        self,
        vertex_count: int,
        vertices: np.ndarray | None = None,
        vertex_times: np.ndarray | None = None,
        points: np.ndarray | None = None,
        point_times: np.ndarray | None = None,
        level_set: np.ndarray | None = None,
    ) -> None: ...
    @property
    def count(self) -> int: ...

class Linearization:
    @property
    def elements(self) -> int: ...
    @property
    def sources(self) -> int: ...
    def vjp(self, cotangent: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]: ...
    def jvp(
        self,
        metric: np.ndarray | None = None,
        onset: np.ndarray | None = None,
        position: np.ndarray | None = None,
        points: np.ndarray | None = None,
        level_set: np.ndarray | None = None,
    ) -> np.ndarray: ...
    def by_points(self, metric: np.ndarray, vertex: np.ndarray) -> np.ndarray: ...
    def metric_jacobian(self, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    def verify(self, times: np.ndarray, seed: int) -> tuple[float, float, float, float, float]: ...
    def by_speed(self, gradient: np.ndarray) -> np.ndarray: ...
    def by_velocity_tensor(self, gradient: np.ndarray) -> np.ndarray: ...
    def by_velocity(self, gradient: np.ndarray) -> np.ndarray: ...
    def by_fibers(self, gradient: np.ndarray) -> np.ndarray: ...
    def from_speed(self, change: np.ndarray) -> np.ndarray: ...
    def from_velocity(self, change: np.ndarray) -> np.ndarray: ...

class Solver:
    def __init__(self, problem: Problem, options: Options, progress: _Progress = None) -> None: ...
    def solve(self, sources: Sources, progress: _Progress = None) -> tuple[Any, ...]: ...
    def solve_many(
        self, sets: Sequence[Sources], take: Callable[[int, tuple[Any, ...]], Any], progress: _Progress = None
    ) -> None: ...
    def linearize(self, times: np.ndarray, source_init: Any, sources: Sources) -> Linearization: ...
    def update(
        self,
        times: np.ndarray,
        source: np.ndarray | None,
        source_init: Any,
        sources: Sources,
        after: Sources | None = None,
        problem: Problem | None = None,
        elements: np.ndarray | None = None,
        progress: _Progress = None,
    ) -> tuple[Any, ...]: ...
    def set_problem(self, problem: Problem) -> None: ...

def invert(
    problem: Problem,
    receivers: np.ndarray,
    sources: Sequence[Sources],
    times: np.ndarray,
    weights: np.ndarray | None,
    unknowns: Sequence[str],
    options: dict[str, Any],
    solve: Options,
    start: tuple[float, np.ndarray] | None = None,
    on_step: Callable[[tuple[Any, ...], tuple[float, np.ndarray]], Any] | None = None,
    progress: _Progress = None,
) -> dict[str, Any]: ...

class DeviceArray:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> np.dtype: ...
    @property
    def device(self) -> int: ...
    def to_numpy(self) -> np.ndarray: ...
    def reshape(self, shape: Sequence[int], order: str = "C") -> DeviceArray: ...

def take(values: Any) -> DeviceArray | np.ndarray | None: ...
def to_device(values: np.ndarray) -> DeviceArray: ...

class DeviceTable:
    def __init__(
        self,
        array: DeviceArray,
        name: str,
        shape: Sequence[int],
        strides: Sequence[int],
        columns: int,
        column_stride: int,
    ) -> None: ...
    @property
    def rows(self) -> int: ...

class DeviceMetric:
    @staticmethod
    def uniform(tensor: Sequence[float]) -> DeviceMetric: ...
    @staticmethod
    def of(problem: Problem) -> DeviceMetric: ...
    @staticmethod
    def speed(speed: DeviceTable) -> DeviceMetric: ...
    @staticmethod
    def tensor(tensor: DeviceTable) -> DeviceMetric: ...
    @staticmethod
    def fiber(fiber: DeviceTable, sheet: DeviceTable | None, velocity: Sequence[float]) -> DeviceMetric: ...

class DeviceSolver:
    def __init__(self, shape: Shape, metric: DeviceMetric, options: Options) -> None: ...
    @staticmethod
    def of_tables(points: DeviceTable, cells: DeviceTable, metric: DeviceMetric, options: Options) -> DeviceSolver: ...
    def solve(
        self, sources: Sources, progress: _Progress = None
    ) -> tuple[DeviceArray, DeviceArray, dict[str, Any]]: ...
    def set_metric(self, metric: DeviceMetric) -> None: ...

def probe_times(shape: Shape, times: np.ndarray, points: np.ndarray, tolerance: float) -> np.ndarray: ...
def trace_paths(
    problem: Problem,
    times: np.ndarray,
    sources: Sources,
    vertices: np.ndarray | None,
    points: np.ndarray | None,
    tolerance: float,
    shorten: bool,
    threads: int,
    progress: _Progress = None,
) -> list[dict[str, Any]]: ...
def is_mesh_file(path: Any) -> bool: ...
def is_image_file(path: Any) -> bool: ...
def read_mesh(path: Any) -> dict[str, Any]: ...
def read_image(path: Any, spacing: list[float], origin: list[float]) -> dict[str, Any]: ...
def simplices_of(points: np.ndarray, kinds: np.ndarray, ends: np.ndarray, ids: np.ndarray) -> dict[str, Any]: ...
def write_mesh(
    path: Any,
    points: np.ndarray,
    cells: np.ndarray,
    lines: list[np.ndarray],
    point_data: dict[str, np.ndarray],
    cell_data: dict[str, np.ndarray],
    force: bool,
) -> list[str]: ...
def write_image(
    path: Any, grid: tuple, arrays: dict[str, np.ndarray], tensor_order: str | None, force: bool
) -> None: ...
def generate_mesh(kind: str, options: dict[str, Any]) -> dict[str, Any]: ...
def generate_image(kind: str, options: dict[str, Any]) -> dict[str, Any]: ...
def random_speed(shape: Shape, low: float, high: float, smoothing: int, seed: int) -> np.ndarray: ...

class Tracts:
    def __init__(
        self,
        grid: tuple,
        tensors: np.ndarray,
        order: str,
        frame: str,
        mask: np.ndarray | None,
        metric: str,
        alpha: float,
        floor: float,
    ) -> None: ...
    def connect(
        self,
        source: np.ndarray,
        target: np.ndarray,
        waypoints: list[np.ndarray],
        exclude: list[np.ndarray],
        stop: list[np.ndarray],
        epsilon: float,
        options: Options,
        progress: _Progress = None,
    ) -> dict[str, Any]: ...
    def connect_labels(self, labels: np.ndarray, options: Options, progress: _Progress = None) -> dict[str, Any]: ...
    @property
    def counts(self) -> dict[str, int]: ...

def tensor_fit(
    grid: tuple,
    signal: np.ndarray,
    bvals: np.ndarray,
    bvecs: np.ndarray,
    frame: str,
    mask: np.ndarray | None,
    method: str,
    threads: int,
    progress: _Progress = None,
) -> dict[str, Any]: ...

class SurfaceOptions:
    def __init__(self, **options: Any) -> None: ...

def surface_of_values(
    grid: tuple, values: np.ndarray, isovalue: float, options: SurfaceOptions, progress: _Progress = None
) -> dict[str, Any]: ...
def surface_of_labels(
    grid: tuple, labels: np.ndarray, wanted: set[int], options: SurfaceOptions, progress: _Progress = None
) -> dict[str, Any]: ...
def surface_of_materials(
    grid: tuple, labels: np.ndarray, wanted: set[int], options: SurfaceOptions, progress: _Progress = None
) -> dict[str, Any]: ...
def fill_surface(
    points: np.ndarray,
    cells: np.ndarray,
    behind: np.ndarray | None,
    before: np.ndarray | None,
    program: str,
    executable: Any,
    largest: float,
    grading: float,
    time_limit: float,
    progress: _Progress = None,
) -> dict[str, Any]: ...
