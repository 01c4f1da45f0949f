"""Isochron: first-arrival times on triangle meshes, tetrahedral meshes and grids.

>>> import isochron
>>> arrival = isochron.solve(isochron.Grid((100, 100), spacing=0.1), sources=[[0.0, 0.0]])
>>> round(float(arrival.times[99, 0]), 6)
9.9
"""

from . import generate
from ._core import __version__
from .arrival import Arrival
from .device import DeviceArray, to_device
from .errors import (
    Cancelled, DeviceError, Error, IndexWarning, InputError, NoAnswerError, RuntimeFailure, SolveWarning, UsageError
)
from .files import read, write
from .fmm import distance, travel_time
from .gradients import DerivativeCheck, Gradients, Linearization
from .grid import Grid
from .image import Image
from .inverting import Inversion, invert
from .mesh import Mesh
from .paths import Path, gradient, trace_path
from .solving import Solver, distance_matrix, solve, solve_many
from .sources import Sources
from .surfaces import Surface, extract_surface, tetrahedralize
from .tracts import Connection, Connectome, Sphere, TensorFit, Tracts, connect, connectome, tensor_fit

__all__ = [
    "Arrival",
    "Cancelled",
    "Connection",
    "Connectome",
    "DerivativeCheck",
    "DeviceArray",
    "DeviceError",
    "Error",
    "Gradients",
    "Grid",
    "Image",
    "IndexWarning",
    "InputError",
    "Inversion",
    "Linearization",
    "Mesh",
    "NoAnswerError",
    "Path",
    "RuntimeFailure",
    "SolveWarning",
    "Solver",
    "Sources",
    "Sphere",
    "Surface",
    "TensorFit",
    "Tracts",
    "UsageError",
    "__version__",
    "connect",
    "connectome",
    "distance",
    "distance_matrix",
    "extract_surface",
    "generate",
    "gradient",
    "invert",
    "read",
    "solve",
    "solve_many",
    "tensor_fit",
    "tetrahedralize",
    "to_device",
    "trace_path",
    "travel_time",
    "write",
]
