"""Times between vertices, and what else comes on vertices or in two dimensions."""

import copy
import pickle

import numpy as np
import pytest

import isochron
from meshes import cube, refused, square


@pytest.mark.parametrize("mesh", [square(8), cube(4)])
def test_times_at_points_are_linear_in_their_cells(mesh):
    arrival = isochron.solve(mesh, [0])
    points, cells = mesh
    weights = np.random.default_rng(3).dirichlet(np.ones(cells.shape[1]), len(cells))
    inside = np.einsum("ec,ecd->ed", weights, points[cells])
    expected = np.einsum("ec,ec->e", weights, arrival.times[cells])
    np.testing.assert_allclose(arrival.at(inside), expected, atol=1e-9)
    np.testing.assert_allclose(arrival.at(points), arrival.times, atol=1e-9)
    assert np.isnan(arrival.at([[2.0, 0, 0], [0.5, 0.5, -0.1]])).all()
    one = arrival.at(inside[0])
    assert np.ndim(one) == 0 and one == pytest.approx(expected[0])
    assert arrival.at(inside.reshape(1, -1, 3)).shape == (1, len(cells))
    assert arrival.at([0.5, 0.5, -0.1], tolerance=0.2) == pytest.approx(arrival.at([0.5, 0.5, 0.0]))


@pytest.mark.parametrize("order", ["C", "F"])
def test_times_between_voxels(order):
    grid = isochron.Grid((6, 5), spacing=(1, 2), origin=(3, 4), order=order)
    mask = np.ones(grid.shape)
    mask[:, 4] = 0
    arrival = isochron.solve(grid, [[3.0, 4.0]], mask=mask)
    found = arrival.at([[4.5, 4.0], [3.0, 7.0], [3.0, 12.0], [30.0, 4.0]])
    np.testing.assert_allclose(found[:2], [1.5, 3.0], rtol=1e-6)
    assert np.isnan(found[2:]).all()


def test_bad_probes():
    arrival = isochron.solve(cube(2), [0])
    refused(isochron.InputError, "wrong shape", arrival.at, [[0.0, 0.0]])
    refused(isochron.InputError, "no real numbers", arrival.at, [["a", "b", "c"]])


@pytest.mark.parametrize("mesh", [square(8), cube(3)])
def test_fibers_at_vertices_of_any_sign(mesh):
    points, cells = mesh
    fibers = np.zeros_like(points)
    fibers[:, 0] = 1.0
    of_cells = np.resize(fibers, (len(cells), 3))
    expected = isochron.solve(mesh, [0], fibers=of_cells, velocity=(2.0, 1.0))
    fibers[::2] *= -3.0
    arrival = isochron.solve(mesh, [0], fibers=fibers, sheets=fibers[:, [1, 0, 2]], velocity=(2.0, 1.0))
    np.testing.assert_allclose(arrival.times, expected.times, rtol=1e-6)
    assert any("fibers: from vertices" in line for line in arrival.stats["converted"])
    refused(isochron.InputError, "fibers has the wrong shape", isochron.solve, mesh, [0], fibers=fibers[:-1],
            velocity=(2.0, 1.0))


def test_tensors_of_two_dimensions():
    tensor = np.array([[4.0, 1.0], [1.0, 2.0]])
    wide = np.diag([0.0, 0.0, 1.0])
    wide[:2, :2] = tensor
    points, cells = square(8)
    lifted = points + [0, 0, 5.0]
    for mesh in ((points[:, :2], cells), (lifted, cells), isochron.Grid((9, 9))):
        for name, factor in (("metric", 1.0), ("velocity_tensor", 0.5)):
            expected = isochron.solve(mesh, [0], **{name: factor * wide}).times
            np.testing.assert_allclose(isochron.solve(mesh, [0], **{name: factor * tensor}).times, expected, rtol=1e-6)
            each = (9, 9) if isinstance(mesh, isochron.Grid) else (len(cells),)
            many = np.broadcast_to(factor * tensor, each + (2, 2))
            np.testing.assert_allclose(isochron.solve(mesh, [0], **{name: many}).times, expected, rtol=1e-6)
    tilted = points + points[:, :1] * [0, 0, 1.0]
    for mesh in ((tilted, cells), cube(2), isochron.Grid((3, 3, 3))):
        refused(isochron.InputError, "wrong shape", isochron.solve, mesh, [0], metric=tensor)


def _same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            _same(a[key], b[key])
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, other in zip(a, b):
            _same(one, other)
    elif hasattr(type(a), "__slots__") and type(a).__module__.startswith("isochron."):
        for name in type(a).__slots__:
            if not name.startswith("_"):
                _same(getattr(a, name), getattr(b, name))
    else:
        assert a == b


@pytest.mark.filterwarnings("ignore::isochron.SolveWarning")
def test_everything_can_be_pickled_and_copied():
    mesh = isochron.Mesh(*square(4), {"a": np.arange(25.0)}, {"b": np.arange(32)})
    grid = isochron.Grid((5, 4), 0.5, order="F")
    image = isochron.Image(grid, {"speed": np.ones(grid.shape)})
    arrival, on_grid = isochron.solve(mesh, [0], weights=True, verify=True), isochron.solve(grid, [0], speed=image.data)
    signal = isochron.generate.helix_tensors(8)
    tracts = isochron.Tracts(signal)
    things = [mesh, grid, image, arrival, on_grid, arrival.sources, isochron.trace_path(arrival, 24),
              isochron.Sphere((1, 2, 3), 4), signal, tracts.connect([[1, 4, 1]], [[6, 4, 6]]),
              isochron.solving.solve_options(method="fim", threads=2)]
    for thing in things:
        _same(pickle.loads(pickle.dumps(thing)), thing)
        _same(copy.deepcopy(thing), thing)
        _same(copy.copy(thing), thing)
    again = pickle.loads(pickle.dumps(arrival))
    assert again.at([0.3, 0.4, 0]) == arrival.at([0.3, 0.4, 0])
