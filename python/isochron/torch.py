"""First-arrival times inside PyTorch: `solve` takes tensors, and its times can be differentiated.

The solve and its derivatives are computed on the host; tensors elsewhere are copied there and back.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .errors import UsageError
from .gradients import Linearization
from .grid import Grid
from .problem import METRIC_ARGUMENTS
from .solving import Solver

#: What can be differentiated by, and the name of its gradient.
_INPUTS = {
    "speed": "speed",
    "metric": "metric",
    "velocity_tensor": "velocity_tensor",
    "velocity": "velocity",
    "times": "onset",
    "sources": "position",
}


def solve(mesh: Any, sources: Any, times: Any = None, **arguments: Any) -> Any:
    """Arrival times as a tensor, differentiable by the arguments that are tensors: speed, metric, velocity_tensor,
    velocity (not a dict), times (of the sources' start) and sources that are positions.

    Other arguments are those of `isochron.Solver`, with a tolerance of 1e-12, which is that of the derivatives. `mesh` may
    be a `Solver`: it then keeps what it has prepared of the mesh and its tolerance, and takes the metric that is given
    here. Times have the type and the device of the first tensor.

    >>> import pytest; _ = pytest.importorskip("torch")
    >>> import isochron.torch, torch
    >>> speed = torch.full((20, 20), 2.0, dtype=torch.float64, requires_grad=True)
    >>> times = isochron.torch.solve(isochron.Grid((20, 20)), [[0.0, 0.0]], speed=speed)
    >>> times[10, 0].backward()  # ten voxels, each half a unit of time
    >>> round(float(speed.grad.sum()), 4)
    -2.5
    """
    torch = _torch()
    given = {"sources": sources, "times": times, **arguments}
    if given.pop("level_set", None) is not None:
        raise UsageError("times cannot be differentiated from a level set; give sources at vertices or points")
    for name, value in given.items():
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
        if not any(isinstance(part, torch.Tensor) for part in parts):
            continue
        if isinstance(value, dict):
            raise UsageError(f"{name} is a dict with tensors; give one tensor, or numbers")
        given[name] = torch.stack([torch.as_tensor(part) for part in parts])
    tensors = {name: value for name, value in given.items() if isinstance(value, torch.Tensor)}
    if wrong := [name for name, value in tensors.items() if name not in _INPUTS and value.requires_grad]:
        raise UsageError(f"times cannot be differentiated by {wrong[0]}; detach it, or give one of: {', '.join(_INPUTS)}")
    if arguments.get("tensor_order", "row") != "row":
        raise UsageError("tensors are in the order 'row' here; give them as matrices")
    plain = {name: value for name, value in given.items() if name not in tensors}
    if isinstance(mesh, Solver) and (other := set(arguments) - set(METRIC_ARGUMENTS)):
        raise UsageError(f"the solver has its own {sorted(other)[0]}; leave it out, or give the mesh")
    return _function().apply(mesh, plain, tuple(tensors), *tensors.values())


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise UsageError("isochron.torch needs PyTorch, which is not installed; install it (torch, or python3-torch)") from None
    return torch


@functools.cache
def _function() -> Any:
    """The autograd.Function, made when PyTorch is first needed."""
    torch = _torch()

    class Times(torch.autograd.Function):
        """From (mesh, other arguments, names of the tensors, tensors) to times."""

        @staticmethod
        def forward(ctx: Any, mesh: Any, plain: dict, names: tuple[str, ...], *tensors: Any) -> Any:
            values = {**plain, **{name: tensor.detach().cpu().numpy().copy() for name, tensor in zip(names, tensors)}}
            sources, times = values.pop("sources"), values.pop("times")
            if isinstance(mesh, Solver):
                solver = mesh
                if values:
                    solver.set_metric(**values)
            else:
                solver = Solver(mesh, **{"tolerance": 1e-12, "precision": "double", **values})
            arrival = solver.solve(sources, times)
            if any(ctx.needs_input_grad):
                ctx.linear = solver.linearize(arrival)
            ctx.names, ctx.shapes = names, [tensor.shape for tensor in tensors]
            like = tensors[0] if tensors else torch.empty(0, dtype=torch.float64)
            dtype = like.dtype if like.dtype.is_floating_point else torch.float64
            return torch.from_numpy(np.asarray(arrival.times)).to(device=like.device, dtype=dtype)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, cotangent: Any) -> tuple:
            gradients = ctx.linear.vjp(cotangent.detach().cpu().double().numpy())
            result: list[Any] = [None, None, None]
            for name, shape, wanted in zip(ctx.names, ctx.shapes, ctx.needs_input_grad[3:]):
                if not wanted:
                    result.append(None)
                    continue
                gradient = _fitted(ctx.linear, np.asarray(gradients[_INPUTS[name]]), tuple(shape), name)
                result.append(torch.from_numpy(gradient).to(device=cotangent.device, dtype=cotangent.dtype))
            return tuple(result)

    return Times


def _fitted(linear: Linearization, gradient: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    """The gradient of what was given in another shape: six components, tensors of a plane, one for all elements, one row
    a voxel, positions of other dimensions."""
    if name in ("metric", "velocity_tensor"):
        if shape[-1] == 6:
            row, column = np.triu_indices(3)
            gradient = gradient[..., row, column] * np.where(row == column, 1.0, 2.0)
            width = 1
        else:
            gradient = gradient[..., : shape[-2], : shape[-1]]
            width = 2
        mesh = linear.mesh
        if len(shape) == width:
            gradient = gradient.reshape((-1,) + shape).sum(axis=0)
        elif isinstance(mesh, Grid) and len(shape) == 1 + width:
            gradient = mesh.flat(gradient, name, width)
    if name == "sources":
        gradient = np.pad(gradient, ((0, 0), (0, 3 - gradient.shape[1])))[:, : shape[-1]]
    if name == "times" and not shape:
        gradient = gradient.sum()
    return np.ascontiguousarray(gradient).reshape(shape)
